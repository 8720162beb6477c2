"""Chooses the pairs of versions to label: `python tools/choose_labelled_pairs.py --data FOLDER [--out FOLDER]`.

FOLDER contains recorded sites in the format of `webstrata.lab.livingweb.recording`. The rule is written in the README
of the data set. It depends on names, times and lengths of contents only, never on what differs, and on no other source
of chance than a hash with a seed: the same recordings give the same pairs on every machine.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.lab.livingweb.recording import Recording, read_recording

SEED = "labelled-pairs-1"
PAIRS_A_SITE = 12
PAIRS_A_PUBLICATION = 2
LARGEST_BYTES = 300_000
OTHER_PAGES = 8
LARGEST_OTHER_BYTES = 100_000
_PATH_LIMITS = (1, 2, PAIRS_A_SITE)
_REQUISITES = (".css", ".js")
_PAGES = (".html", ".htm")
_DEFAULT_OUT = Path(__file__).parent.parent / "tests/data/labelled-pairs"

HTML_SITES = (
    "boost",
    "choldgraf",
    "fiveminutestats",
    "jena",
    "leancommunity",
    "llvm",
    "spencerahill",
    "wcag-understanding",
)
DATA_SITES = (
    "activitystreams",
    "brick",
    "congress",
    "countries",
    "country-codes",
    "dcat",
    "oil-prices",
    "schemaorg",
    "sp500",
    "wot-td",
)


class Pair(NamedTuple):
    """Two successive versions of one path. `before` and `after` name contents."""

    site: str
    path: str
    at_before: float
    at_after: float
    before: str
    after: str

    @property
    def kind(self) -> str:
        return "html" if self.path.endswith(_PAGES) else "data"


class OtherPage(NamedTuple):
    """Another page of a pair's site: its contents just before and at the publication of the pair's newer version."""

    pair: str
    path: str
    before: str | None
    after: str


def rank(*names: str) -> bytes:
    """The place of a name in an order that is arbitrary, but the same everywhere."""
    return blake2b("\0".join((SEED, *names)).encode(), digest_size=16).digest()


def splits(sites: Iterable[str]) -> dict[str, str]:
    """Site -> `tune` for the first half of the sites in the order of their ranks, otherwise `report`."""
    ranked = sorted(sites, key=rank)
    return {site: "tune" if place < len(ranked) // 2 else "report" for place, site in enumerate(ranked)}


def candidates(recording: Recording) -> Iterator[Pair]:
    """All pairs of successive versions that the rule admits."""
    lengths = {name: len(content) for name, content in recording.contents.items()}
    for path, versions in recording.pages.items():
        if path.endswith(_REQUISITES):
            continue
        for (at_before, before), (at_after, after) in pairwise(versions):
            if before and after and max(lengths[before], lengths[after]) <= LARGEST_BYTES:
                yield Pair(recording.site, path, at_before, at_after, before, after)


def choose(pairs: Iterable[Pair]) -> list[Pair]:
    """At most `PAIRS_A_SITE` pairs: one for each path, then a second one, then any, few of one publication."""
    ranked = sorted(pairs, key=lambda pair: rank(pair.site, pair.path, f"{pair.at_after:.3f}"))
    chosen: list[Pair] = []
    of_path: Counter[str] = Counter()
    of_publication: Counter[float] = Counter()
    for path_limit in _PATH_LIMITS:
        for pair in ranked:
            if len(chosen) == PAIRS_A_SITE:
                break
            if (
                pair not in chosen
                and of_path[pair.path] < path_limit
                and of_publication[pair.at_after] < PAIRS_A_PUBLICATION
            ):
                chosen.append(pair)
                of_path[pair.path] += 1
                of_publication[pair.at_after] += 1
    return sorted(chosen, key=lambda pair: (pair.path, pair.at_after))


def other_pages(recording: Recording, name: str, pair: Pair) -> list[OtherPage]:
    """Pages that existed with the newer version, those of its folder first."""
    folder = pair.path.rpartition("/")[0]
    alive = [path for path in recording.alive_at(pair.at_after) if path.endswith(_PAGES) and path != pair.path]
    alive.sort(key=lambda path: (path.rpartition("/")[0] != folder, rank(pair.site, path)))
    found: list[OtherPage] = []
    for path in alive:
        after = recording.version_at(path, pair.at_after)
        before = recording.version_at(path, pair.at_after - 0.001)  # the recordings count milliseconds
        if after and after[1] and len(recording.contents[after[1]]) <= LARGEST_OTHER_BYTES:
            small = before and before[1] and len(recording.contents[before[1]]) <= LARGEST_OTHER_BYTES
            found.append(OtherPage(name, path, before[1] if before and small else None, after[1]))
        if len(found) == OTHER_PAGES:
            break
    return found


def write(pairs: dict[str, Pair], others: list[OtherPage], contents: dict[str, bytes], out: Path) -> None:
    """Write the pairs and other pages as text, and each content once."""
    split = splits(HTML_SITES) | splits(DATA_SITES)
    with (out / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("id", "site", "split", "kind", "path", "at_before", "at_after", "before", "after"))
        for name, pair in pairs.items():
            times = (_written(pair.at_before), _written(pair.at_after))
            rows.writerow((name, pair.site, split[pair.site], pair.kind, pair.path, *times, pair.before, pair.after))
    with (out / "other-pages.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(OtherPage._fields)
        rows.writerows(others)
    # One data page and no dictionary, so that zstd finds the repetitions between versions.
    pq.write_table(
        pa.table({"blob": pa.array(contents), "content": pa.array(contents.values(), pa.binary())}),
        out / "contents.parquet",
        row_group_size=len(contents),
        compression="zstd",
        compression_level=22,
        use_dictionary=False,
        data_page_size=1 << 30,
        write_statistics=False,
    )


def _written(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the complete recordings")
    parser.add_argument("--out", type=Path, default=_DEFAULT_OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    pairs: dict[str, Pair] = {}
    others: list[OtherPage] = []
    contents: dict[str, bytes] = {}
    for site in (*HTML_SITES, *DATA_SITES):
        recording = read_recording(options.data, site)
        chosen = {f"{site}-{number:02d}": pair for number, pair in enumerate(choose(candidates(recording)), 1)}
        beside = [
            page for name, pair in chosen.items() if pair.kind == "html" for page in other_pages(recording, name, pair)
        ]
        used = sorted(
            {(pair.path, pair.at_after, name) for pair in chosen.values() for name in (pair.before, pair.after)}
            | {(page.path, chosen[page.pair].at_after, name) for page in beside for name in page[2:] if name}
        )
        contents |= {name: recording.contents[name] for _, _, name in used}
        pairs |= chosen
        others += beside
        print(f"{site:20} {len(chosen):3} pairs, {len(beside):3} other pages")
    write(pairs, others, contents, options.out)
    size = (options.out / "contents.parquet").stat().st_size
    print(f"{len(pairs)} pairs, {len(contents)} contents, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
