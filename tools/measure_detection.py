"""Measure detection on real histories: `python tools/measure_detection.py --data FOLDER [--pairs N] [--pages N]`.

FOLDER holds pairs of Parquet files as `webstrata.lab.livingweb.recording` reads them. Prints the tables of
docs/why/detection.md. Sampling is by a fixed seed: the same command gives the same figures.

- layers: version pairs with different bytes, up to N a site, and which layers call them a change
- pairs: the labelled HTML pairs of tests/data, by each layer alone
- data: the same as layers for data files
- noise: pages visited at a fixed interval through their history, with and without learned noise
- disguises: versions that are taken for something else than the page (each is a false alarm here)
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import pyarrow.parquet as pq
from msgspec.structs import replace

from webstrata.detect.response_class import error_page
from webstrata.detect.layers import layer_digest, deciding_layer
from webstrata.detect.memory import PageMemory, memory_of_first_version, pack, remember
from webstrata.detect.verdict import judge
from webstrata.observe.page import ObservedContent, observe_typed
from webstrata.observe.text_runs import run_shape
from webstrata.observe.page import observation_fields
from webstrata.records import Observation

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
    "oil-prices",
    "sp500",
    "country-codes",
    "congress",
    "countries",
    "schemaorg",
    "dcat",
    "wot-td",
    "activitystreams",
    "brick",
)
MEDIA = {
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "json": "application/json",
    "geojson": "application/geo+json",
    "jsonld": "application/ld+json",
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "rdf": "application/rdf+xml",
    "owl": "application/rdf+xml",
}
_PAIRS = Path(__file__).parent.parent / "tests/data/conformance/change-pairs/cases.json"
_LARGEST = 2_000_000
_DAY_MS = 86_400_000


class Version(NamedTuple):
    at_ms: int
    blob: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=300, help="version pairs of each site")
    parser.add_argument("--pages", type=int, default=12, help="pages of each site for the noise")
    parser.add_argument("--days", type=float, default=1.0, help="days between visits for the noise")
    parser.add_argument("--seed", default="pairs", help="another word gives another sample of pairs (layers)")
    parser.add_argument("--only", nargs="*", default=["layers", "pairs", "data", "noise", "disguises"])
    arguments = parser.parse_args()
    if "layers" in arguments.only:
        measure_layers(arguments.data, arguments.pairs, arguments.seed)
    if "pairs" in arguments.only:
        measure_pairs()
    if "data" in arguments.only:
        measure_data(arguments.data, arguments.pairs)
    if "noise" in arguments.only:
        measure_noise(arguments.data, arguments.pages, arguments.days)
    if "disguises" in arguments.only:
        measure_disguises(arguments.data, arguments.pairs)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def histories(data: Path, site: str) -> dict[str, list[Version]]:
    """Path -> its versions, without the times when it did not exist."""
    table = pq.read_table(data / f"{site}.versions.parquet", columns=["path", "at", "blob"])
    found: dict[str, list[Version]] = {}
    at = table["at"].cast("int64").to_pylist()
    for path, at_ms, blob in zip(table["path"].to_pylist(), at, table["blob"].to_pylist(), strict=True):
        if blob is not None and path.rpartition(".")[2].lower() in MEDIA:
            found.setdefault(path, []).append(Version(at_ms, blob))
    return found


def contents(data: Path, site: str, wanted: set[str]) -> dict[str, bytes]:
    file = pq.ParquetFile(data / f"{site}.blobs.parquet")
    found: dict[str, bytes] = {}
    for group in range(file.num_row_groups):
        if wanted.isdisjoint(file.read_row_group(group, columns=["blob"])["blob"].to_pylist()):
            continue
        table = file.read_row_group(group)
        for blob, content in zip(table["blob"].to_pylist(), table["content"], strict=True):
            if blob in wanted:
                found[blob] = content.as_py()
    return found


def sampled_pairs(data: Path, site: str, count: int, seed: str = "pairs") -> Iterator[tuple[str, bytes, bytes]]:
    """(Path, before, after) with different bytes, by a fixed seed."""
    pairs = [
        (path, old.blob, new.blob)
        for path, versions in sorted(histories(data, site).items())
        for old, new in pairwise(versions)
        if old.blob != new.blob
    ]
    chosen = Random(f"{seed} {site}").sample(pairs, min(count, len(pairs)))
    bodies = contents(data, site, {blob for _, old, new in chosen for blob in (old, new)})
    for path, old, new in chosen:
        if max(len(bodies[old]), len(bodies[new])) <= _LARGEST:
            yield path, bodies[old], bodies[new]


def seen(path: str, body: bytes, site: str) -> ObservedContent:
    return observe_typed(body, MEDIA[path.rpartition(".")[2].lower()], None, f"https://{site}.example/{path}")


def observation(one: ObservedContent, at: float, previous: bytes) -> Observation:
    lines, links, excerpts = observation_fields(one, previous)
    return Observation(
        url="https://example.org/",
        at=at,
        status=200,
        fingerprint=one.fingerprint,
        lines=lines,
        link_hashes=links,
        excerpts=excerpts,
    )


def main_text(one: ObservedContent) -> str:
    parts = one.part_texts
    return one.text or "" if parts is None else f"{parts[0]}\n{parts[2]}"


# ── layers ──────────────────────────────────────────────────────────────────────────────────────────────────


def measure_layers(data: Path, count: int, seed: str) -> None:
    names = ("text", "main", "main_links", "links")
    print(f"\n## Layers (HTML, up to {count} version pairs with different bytes a site; % that differ)\n")
    print("| site | pairs | text | main | main links | links | counts (auto) | by margins | content | links only"
          " | markup or margins | within 6 bits, of text changes |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    total: Counter[str] = Counter()
    for site in HTML_SITES:
        counts: Counter[str] = Counter()
        for path, old, new in sampled_pairs(data, site, count, seed):
            before, after = seen(path, old, site), seen(path, new, site)
            memory = memory_of_first_version(observation(before, 0.0, b""), deciding_layer(before.fingerprint))
            change = judge(before.fingerprint, False, observation(after, 0.0, b""), memory=memory)
            counts["pairs"] += 1
            counts["margins"] += change.counts and change.layer == "text" and "main" in change.layers
            counts.update(name for name in names if change.layers.get(name))
            counts["auto"] += change.counts
            counts[change.kind.value if change.kind != "links" else "links only"] += 1
            counts["within"] += change.text and change.distance is not None and change.distance <= 6
        total.update(counts)
        _layer_row(site, counts)
    _layer_row("all", total)


def _layer_row(site: str, counts: Counter[str]) -> None:
    shown = ("text", "main", "main_links", "links", "auto", "margins", "content", "links only", "markup")
    cells = " | ".join(f"{100 * counts[name] / max(counts['pairs'], 1):.0f}" for name in shown)
    print(
        f"| {site} | {counts['pairs']} | {cells} | {100 * counts['within'] / max(counts['text'], 1):.0f} |", flush=True
    )


# ── labelled pairs ──────────────────────────────────────────────────────────────────────────────────────────


def measure_pairs() -> None:
    cases = [case for case in json.loads(_PAIRS.read_text("utf-8")) if case["media"] == "text/html"]
    changes = sum(case["meaningful_change"] for case in cases)
    print(f"\n## Labelled pairs (HTML: {changes} changes, {len(cases) - changes} that are none)\n")
    print("| layer alone | missed | false alarms |\n|---|---:|---:|")
    for name, layers in (("raw", ("raw",)), ("text", ("text",)), ("main and its links", ("main", "main_links"))):
        missed = alarms = 0
        for case in cases:
            before, now = (
                observe_typed(case[side].encode(), "text/html", "utf-8", "https://example.org/page").fingerprint
                for side in ("before", "after")
            )
            differs = any(layer_digest(before, layer) != layer_digest(now, layer) for layer in layers)
            missed += case["meaningful_change"] and not differs
            alarms += differs and not case["meaningful_change"]
        print(f"| {name} | {missed} | {alarms} |", flush=True)


# ── data ────────────────────────────────────────────────────────────────────────────────────────────────────


def measure_data(data: Path, count: int) -> None:
    print(f"\n## Data files (up to {count} version pairs with different bytes a site)\n")
    print("| site | pairs | data differ | data equal | compared by bytes |")
    print("|---|---:|---:|---:|---:|")
    for site in DATA_SITES:
        counts: Counter[str] = Counter()
        for path, old, new in sampled_pairs(data, site, count):
            before, after = seen(path, old, site).fingerprint, seen(path, new, site).fingerprint
            change = judge(before, False, Observation(url="https://e.org/", at=0.0, status=200, fingerprint=after))
            counts["pairs"] += 1
            counts["bytes" if change.layer != "data" else "differ" if change.counts else "equal"] += 1
        print(
            f"| {site} | {counts['pairs']} | {counts['differ']} | {counts['equal']} | {counts['bytes']} |", flush=True
        )


# ── noise ───────────────────────────────────────────────────────────────────────────────────────────────────


def measure_noise(data: Path, count: int, days: float) -> None:
    print(f"\n## Noise ({count} pages a site with the most versions, visited every {days:g} days)\n")
    print("| site | visits | bytes differ | alarms without | alarms with noise learned | hidden"
        " | of those with other words | places learned | largest memory, bytes |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for site in HTML_SITES:
        pages = histories(data, site)
        busiest = sorted(pages, key=lambda path: (-len(pages[path]), path))[:count]
        bodies = contents(data, site, {version.blob for path in busiest for version in pages[path]})
        counts: Counter[str] = Counter()
        for path in busiest:
            largest = counts["memory"]
            counts.update(_replayed(site, path, pages[path], bodies, days))
            counts["memory"] = max(largest, counts["memory"] - largest)
        shown = ("visits", "raw", "without", "with", "hidden", "words", "places", "memory")
        print(f"| {site} | {' | '.join(str(counts[name]) for name in shown)} |", flush=True)


def _replayed(site: str, path: str, versions: list[Version], bodies: dict[str, bytes], days: float) -> Counter[str]:
    counts: Counter[str] = Counter()
    memory, before, blob = PageMemory(), None, ""
    words: Counter[str] = Counter()
    learned: set[int] = set()
    for at, current in _visits(versions, days):
        counts["visits"] += 1
        if current == blob and before is not None:
            same = Observation(url="https://example.org/", at=at, status=200, fingerprint=before)
            memory = remember(memory, before, same, judge(before, False, same, memory=memory))
            continue
        now, blob, then_words = seen(path, bodies[current], site), current, words
        sight = observation(now, at, memory.runs)
        plain = judge(before, False, sight, memory=replace(memory, noise=()))
        change = judge(before, False, sight, memory=memory)
        words = Counter(map(run_shape, main_text(now).split("\n")))
        hidden = plain.counts and not change.counts
        counts.update(raw=plain.raw, without=plain.counts, hidden=hidden, words=hidden and words != then_words)
        counts["with"] += change.counts
        memory, before = remember(memory, before, sight, change), now.fingerprint
        learned |= {slot.key for slot in memory.noise if slot.state == "learned"}
        counts["memory"] = max(counts["memory"], len(pack(memory)))
    counts["places"] = len(learned)
    return counts


def _visits(versions: list[Version], days: float) -> Iterator[tuple[float, str]]:
    """(Time in seconds, content) of visits at a fixed interval, from the first version to just after the last."""
    place, at_ms = 0, versions[0].at_ms
    while at_ms <= versions[-1].at_ms + days * _DAY_MS:
        while place + 1 < len(versions) and versions[place + 1].at_ms <= at_ms:
            place += 1
        yield at_ms / 1000, versions[place].blob
        at_ms += int(days * _DAY_MS)


# ── disguises ───────────────────────────────────────────────────────────────────────────────────────────────


def measure_disguises(data: Path, count: int) -> None:
    print(f"\n## Disguises (up to {count} version pairs a site; every one found is wrong)\n")
    found, pairs = [], 0
    for site in HTML_SITES:
        for path, old, new in sampled_pairs(data, site, count):
            before, after = seen(path, old, site), seen(path, new, site)
            pairs += 1
            mask = error_page(200, {}, after.text or "", after.title, before.fingerprint, after.fingerprint)
            if mask is not None:
                found.append(f"{site}/{path}: {mask.kind.value}, {mask.reason}")
    print(f"{len(found)} of {pairs} real versions")
    print("\n".join(found))


if __name__ == "__main__":
    main()
