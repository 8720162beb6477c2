"""Makes the shipped extract of recorded sites: `python tools/make_extract.py --data FOLDER [--out FOLDER]`.

FOLDER contains pairs of Parquet files in the format of `webstrata.lab.livingweb.recording`. The extract has a fixed
choice of pages of each site, for the two years that all sites cover. Versions of one page are adjacent rows, which
compresses them up to a hundredfold.
"""

from __future__ import annotations

import argparse
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, read_recording

LIMIT_BYTES = 3_000_000
_DEFAULT_OUT = Path(__file__).parent.parent / "src/webstrata/lab/data/sites"

# site: (source, licence, frequently changed pages, other pages, new pages, largest content in bytes, excluded prefixes)
CHOICE: dict[str, tuple[str, str, int, int, int, int, tuple[str, ...]]] = {
    "boost": ("https://github.com/boostorg/website", "BSL-1.0", 22, 12, 4, 120_000, ("style-v2/",)),
    "llvm": ("https://github.com/llvm/llvm-www", "Apache-2.0 WITH LLVM-exception", 10, 12, 5, 300_000, ()),
    "jena": ("https://github.com/apache/jena-site", "Apache-2.0", 20, 8, 4, 60_000, ("sitemap.xml", "css/")),
    "leancommunity": (
        "https://github.com/leanprover-community/leanprover-community.github.io",
        "MIT",
        18,
        8,
        4,
        60_000,
        ("blog/assets/", "lean3/"),
    ),
    "choldgraf": ("https://github.com/choldgraf/choldgraf.github.io", "CC0-1.0", 14, 6, 4, 60_000, ("build/",)),
    "spencerahill": ("https://github.com/spencerahill/my-website", "Apache-2.0", 4, 10, 3, 60_000, ("css/",)),
    "oil-prices": ("https://github.com/datasets/oil-prices", "ODC-PDDL-1.0", 9, 0, 0, 250_000, ()),
    "sp500": ("https://github.com/datasets/s-and-p-500-companies", "ODC-PDDL-1.0", 2, 0, 0, 250_000, (".",)),
    "country-codes": ("https://github.com/datasets/country-codes", "ODC-PDDL-1.0", 3, 0, 2, 250_000, ()),
    "congress": ("https://github.com/unitedstates/congress-legislators", "CC0-1.0", 5, 1, 0, 400_000, ()),
    "schemaorg": ("https://github.com/schemaorg/schemaorg", "Apache-2.0", 12, 8, 4, 100_000, ()),
    "wot-td": (
        "https://github.com/w3c/wot-thing-description",
        "W3C-20150513",
        8,
        6,
        4,
        150_000,
        ("proposals/",),
    ),
}


def choose(recording: Recording, busy: int, quiet: int, new: int, largest: int, excluded: tuple[str, ...]) -> list[str]:
    """The `busy` most frequently changed pages, `quiet` of the others, and `new` pages published in the window."""
    start_at, _ = SHIPPED_WINDOW
    alive = set(recording.alive_at(start_at))
    suitable = [
        path
        for path, versions in recording.pages.items()
        if not path.startswith(excluded)
        and not path.endswith(".css")  # a requisite, not a page
        and all(len(recording.contents[blob]) <= largest for _, blob in versions if blob)
    ]
    by_changes = sorted(suitable, key=lambda path: (-len(recording.pages[path]), path))
    old_paths = [path for path in by_changes if path in alive]
    new_paths = [path for path in by_changes if path not in alive]
    return sorted(old_paths[:busy] + _sample(old_paths[busy:], quiet) + _sample(new_paths, new))


def _sample(paths: list[str], count: int) -> list[str]:
    """A deterministic sample that does not depend on the order of the paths."""
    return sorted(paths, key=lambda path: blake2b(path.encode()).digest())[:count]


def write(recording: Recording, out: Path) -> int:
    """Write both files of one site and return their size in bytes."""
    rows = sorted((at, path, blob) for path, versions in recording.pages.items() for at, blob in versions)
    instants = sorted({at for at, _, _ in rows})
    ordinal = {at: number for number, at in enumerate(instants)}
    versions = pa.table(
        {
            "site": pa.array([recording.site] * len(rows)),
            "path": pa.array([path for _, path, _ in rows]),
            "at": pa.array([round(at * 1000) for at, _, _ in rows], pa.timestamp("ms", "UTC")),
            "blob": pa.array([blob for _, _, blob in rows], pa.string()),
            "deleted": pa.array([blob is None for _, _, blob in rows]),
            "commit": pa.array([ordinal[at] for at, _, _ in rows], pa.int32()),
        }
    ).replace_schema_metadata({"source": recording.source, "licence": recording.licence})
    by_page = [blob for path in sorted(recording.pages) for _, blob in recording.pages[path] if blob]
    names = list(dict.fromkeys(by_page))
    blobs = pa.table(
        {
            "blob": pa.array(names),
            "content": pa.array([recording.contents[name] for name in names], pa.binary()),
        }
    )
    files = (out / f"{recording.site}.versions.parquet", out / f"{recording.site}.blobs.parquet")
    pq.write_table(versions, files[0], compression="zstd", compression_level=19)
    # One data page in one row group and no dictionary, so that zstd finds the repetitions between versions.
    pq.write_table(
        blobs,
        files[1],
        compression="zstd",
        compression_level=22,
        use_dictionary=["blob"],
        data_page_size=1 << 30,
        write_statistics=False,
    )
    return sum(file.stat().st_size for file in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the complete recordings")
    parser.add_argument("--out", type=Path, default=_DEFAULT_OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    total = 0
    for site, (source, licence, busy, quiet, new, largest, excluded) in CHOICE.items():
        complete = read_recording(options.data, site, SHIPPED_WINDOW)
        paths = choose(complete, busy, quiet, new, largest, excluded)
        part = complete.within(SHIPPED_WINDOW, paths)
        part = Recording(site=site, licence=licence, source=source, pages=part.pages, contents=part.contents)
        size = write(part, options.out)
        total += size
        versions = sum(map(len, part.pages.values()))
        plain_mb = sum(map(len, part.contents.values())) / 1e6
        print(f"{site:16} {len(part.pages):4} pages {versions:5} versions {plain_mb:6.1f} MB -> {size / 1e3:6.0f} kB")
    print(f"{'all':16} {total / 1e6:.2f} MB of at most {LIMIT_BYTES / 1e6:g}")
    if total > LIMIT_BYTES:
        raise SystemExit("The extract is too large to ship. Choose fewer pages in CHOICE.")


if __name__ == "__main__":
    main()
