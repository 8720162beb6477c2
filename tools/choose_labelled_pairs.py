"""Chooses the pairs of versions to label: `python tools/choose_labelled_pairs.py --data FOLDER [--out FOLDER]`.

FOLDER contains recorded sites in the format of `webstrata.lab.livingweb.recording`. The rule is written in the README
of the data set. It depends on names, times and lengths of contents only, never on what differs, and on no other source
of chance than a hash with a seed: the same recordings give the same pairs on every machine.

There are two draws. `versions` takes pairs of any publication, so that they are as frequent as in the sites' histories.
`edits` takes pages of publications with few pages: rebuilds of a generated site are absent from it.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.lab.livingweb.recording import Recording, read_recording

SEED = "labelled-pairs-1"
READ_LATER = ("choldgraf", "leancommunity")
"""The first two report sites by name: when the other tuning sites showed nothing more, their pairs were read, too."""
PAIRS_A_SITE = 12
EDITS_A_SITE = 10
PAGES_OF_AN_EDIT = 3
PAIRS_A_PUBLICATION = 2
LARGEST_BYTES = 300_000
OTHER_PAGES = 8
LARGEST_OTHER_BYTES = 100_000
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


class Draw(NamedTuple):
    """One choice of pairs. `mark` stands before the number in the ids of its pairs."""

    name: str
    mark: str
    pairs_a_site: int


VERSIONS = Draw("versions", "", PAIRS_A_SITE)
EDITS = Draw("edits", "e", EDITS_A_SITE)
DRAWS = (VERSIONS, EDITS)


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


class Drawn(NamedTuple):
    """What is written of one draw: pairs by their ids, other pages, and the contents of both by their names."""

    pairs: dict[str, Pair]
    others: list[OtherPage]
    contents: dict[str, bytes]


def rank(*names: str) -> bytes:
    """The place of a name in an order that is arbitrary, but the same everywhere."""
    return blake2b("\0".join((SEED, *names)).encode(), digest_size=16).digest()


def splits(sites: Iterable[str]) -> dict[str, str]:
    """Site -> `tune` for the first half of the sites in the order of their ranks, otherwise `report`.

    Sites whose misjudged pairs were read later are `tune` as well.
    """
    ranked = sorted(sites, key=rank)
    first = ranked[: len(ranked) // 2]
    return {site: "tune" if site in first or site in READ_LATER else "report" for site in ranked}


def candidates(recording: Recording) -> Iterator[Pair]:
    """All pairs of successive versions that the rule admits."""
    lengths = {name: len(content) for name, content in recording.contents.items()}
    for path, versions in recording.pages.items():
        if path.endswith(_REQUISITES):
            continue
        for (at_before, before), (at_after, after) in pairwise(versions):
            if before and after and max(lengths[before], lengths[after]) <= LARGEST_BYTES:
                yield Pair(recording.site, path, at_before, at_after, before, after)


def edits(recording: Recording, taken: Container[Pair]) -> Iterator[Pair]:
    """Pairs of pages whose publication wrote or deleted few pages of the site, without those already taken."""
    pages = Counter(at for path, versions in recording.pages.items() if path.endswith(_PAGES) for at, _ in versions)
    for pair in candidates(recording):
        if pair.kind == "html" and pages[pair.at_after] <= PAGES_OF_AN_EDIT and pair not in taken:
            yield pair


def choose(pairs: Iterable[Pair], number: int = PAIRS_A_SITE) -> list[Pair]:
    """At most `number` pairs: one for each path, then a second one, then any, few of one publication."""
    ranked = sorted(pairs, key=lambda pair: rank(pair.site, pair.path, f"{pair.at_after:.3f}"))
    chosen: list[Pair] = []
    of_path: Counter[str] = Counter()
    of_publication: Counter[float] = Counter()
    for path_limit in (1, 2, number):
        for pair in ranked:
            if len(chosen) == number:
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


def draw_pairs(recording: Recording, draw: Draw, chosen: Iterable[Pair]) -> Drawn:
    """Give ids to the chosen pairs of a site, and add the other pages and all contents."""
    site = recording.site
    pairs = {f"{site}-{draw.mark}{number:02d}": pair for number, pair in enumerate(chosen, 1)}
    others = [
        page for name, pair in pairs.items() if pair.kind == "html" for page in other_pages(recording, name, pair)
    ]
    used = sorted(
        {(pair.path, pair.at_after, name) for pair in pairs.values() for name in (pair.before, pair.after)}
        | {(page.path, pairs[page.pair].at_after, name) for page in others for name in page[2:] if name}
    )
    return Drawn(pairs, others, {name: recording.contents[name] for _, _, name in used})


def write(drawn: dict[str, Drawn], out: Path) -> None:
    """Write the pairs and other pages of all draws (by their names) as text, and each content once."""
    split = splits(HTML_SITES) | splits(DATA_SITES)
    with (out / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("id", "site", "split", "kind", "path", "at_before", "at_after", "before", "after", "draw"))
        for draw, (pairs, _, _) in drawn.items():
            for name, pair in pairs.items():
                place = (pair.site, split[pair.site], pair.kind, pair.path)
                times = (_written(pair.at_before), _written(pair.at_after))
                rows.writerow((name, *place, *times, pair.before, pair.after, draw))
    with (out / "other-pages.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(OtherPage._fields)
        for _, others, _ in drawn.values():
            rows.writerows(others)
    contents = {name: content for part in drawn.values() for name, content in part.contents.items()}
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
    drawn = {draw.name: Drawn({}, [], {}) for draw in DRAWS}
    for site in (*HTML_SITES, *DATA_SITES):
        recording = read_recording(options.data, site)
        versions = choose(candidates(recording), VERSIONS.pairs_a_site)
        chosen = {VERSIONS: versions}
        if site in HTML_SITES:
            chosen[EDITS] = choose(edits(recording, versions), EDITS.pairs_a_site)
        for draw, pairs in chosen.items():
            of_site, all_sites = draw_pairs(recording, draw, pairs), drawn[draw.name]
            all_sites.pairs.update(of_site.pairs)
            all_sites.others.extend(of_site.others)
            all_sites.contents.update(of_site.contents)
            print(f"{site:20} {draw.name:9} {len(of_site.pairs):3} pairs, {len(of_site.others):3} other pages")
    write(drawn, options.out)
    size = (options.out / "contents.parquet").stat().st_size
    print(f"{sum(len(part.pairs) for part in drawn.values())} pairs, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
