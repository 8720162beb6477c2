"""Measure detection on real histories: `python tools/measure_detection.py --data FOLDER [--pairs N] [--pages N]`.

FOLDER contains pairs of Parquet files in the format of `webstrata.lab.livingweb.recording`. Prints the tables of
docs/why/detection.md. Samples are drawn with a fixed seed: the same command gives the same figures.

- layers: up to N version pairs with different bytes per site, and the layers that differ
- pairs: the labelled HTML pairs of tests/data, compared by each layer alone
- data: the same as layers for data files
- noise: pages visited at a fixed interval through their history, with and without learned noise
- errors: versions that are classified as error pages, as first versions or after the version before (all of them are
  real versions, so each is a false alarm)
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

from webstrata.detect.layers import layer_digest
from webstrata.detect.memory import PageMemory, pack, remember
from webstrata.detect.verdict import judge, judge_alone
from webstrata.flows.crawl.parse import ParseJob, parse_content
from webstrata.observe.page import ObservedContent, observation_of, observe_typed
from webstrata.observe.text_runs import run_shape
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
_URL = "https://example.org/"
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
_MAX_BYTES = 2_000_000
_DAY_MS = 86_400_000


class Version(NamedTuple):
    at_ms: int
    blob: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=300, help="version pairs per site")
    parser.add_argument("--pages", type=int, default=12, help="pages per site for `noise`")
    parser.add_argument("--days", type=float, default=1.0, help="days between visits for `noise`")
    parser.add_argument("--seed", default="pairs", help="seed of the sample of pairs for `layers`")
    parser.add_argument("--only", nargs="*", default=["layers", "pairs", "data", "noise", "errors"])
    arguments = parser.parse_args()
    if "layers" in arguments.only:
        measure_layers(arguments.data, arguments.pairs, arguments.seed)
    if "pairs" in arguments.only:
        measure_pairs()
    if "data" in arguments.only:
        measure_data(arguments.data, arguments.pairs)
    if "noise" in arguments.only:
        measure_noise(arguments.data, arguments.pages, arguments.days)
    if "errors" in arguments.only:
        measure_error_pages(arguments.data, arguments.pairs)


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────


def histories(data: Path, site: str) -> dict[str, list[Version]]:
    """Path -> its versions, without the intervals in which it did not exist."""
    table = pq.read_table(data / f"{site}.versions.parquet", columns=["path", "at", "blob"])
    versions: dict[str, list[Version]] = {}
    at = table["at"].cast("int64").to_pylist()
    for path, at_ms, blob in zip(table["path"].to_pylist(), at, table["blob"].to_pylist(), strict=True):
        if blob is not None and path.rpartition(".")[2].lower() in MEDIA:
            versions.setdefault(path, []).append(Version(at_ms, blob))
    return versions


def contents(data: Path, site: str, blobs: set[str]) -> dict[str, bytes]:
    file = pq.ParquetFile(data / f"{site}.blobs.parquet")
    bodies: dict[str, bytes] = {}
    for group in range(file.num_row_groups):
        if blobs.isdisjoint(file.read_row_group(group, columns=["blob"])["blob"].to_pylist()):
            continue
        table = file.read_row_group(group)
        for blob, content in zip(table["blob"].to_pylist(), table["content"], strict=True):
            if blob in blobs:
                bodies[blob] = content.as_py()
    return bodies


def sampled_pairs(data: Path, site: str, count: int, seed: str = "pairs") -> Iterator[tuple[str, bytes, bytes]]:
    """A sample of version pairs (path, before, after) with different bytes."""
    pairs = [
        (path, old.blob, new.blob)
        for path, versions in sorted(histories(data, site).items())
        for old, new in pairwise(versions)
        if old.blob != new.blob
    ]
    chosen = Random(f"{seed} {site}").sample(pairs, min(count, len(pairs)))
    bodies = contents(data, site, {blob for _, old, new in chosen for blob in (old, new)})
    for path, old, new in chosen:
        if max(len(bodies[old]), len(bodies[new])) <= _MAX_BYTES:
            yield path, bodies[old], bodies[new]


def parsed(path: str, body: bytes, site: str) -> ObservedContent:
    return observe_typed(body, MEDIA[path.rpartition(".")[2].lower()], None, f"https://{site}.example/{path}")


def main_text(content: ObservedContent) -> str:
    parts = content.part_texts
    return content.text or "" if parts is None else f"{parts.title}\n{parts.body}\n{parts.side}"


# ── layers ──────────────────────────────────────────────────────────────────────────────────────────────────


def measure_layers(data: Path, count: int, seed: str) -> None:
    names = ("text", "main", "main_links", "links")
    print(f"\n## Layers (HTML, up to {count} version pairs with different bytes per site; % that differ)\n")
    print("| site | pairs | text | main | main links | links | counts (auto) | outside main | content | links only"
          " | markup or outside main | within 6 bits, of text changes |")  # fmt: skip
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    total: Counter[str] = Counter()
    for site in HTML_SITES:
        counts: Counter[str] = Counter()
        for path, old, new in sampled_pairs(data, site, count, seed):
            before, after = parsed(path, old, site), parsed(path, new, site)
            change = judge_alone(observation_of(before, _URL, 0.0), observation_of(after, _URL, 0.0))
            counts["pairs"] += 1
            counts["outside main"] += change.counts and change.layer == "text" and "main" in change.layers
            counts.update(name for name in names if change.layers.get(name))
            counts["auto"] += change.counts
            counts[change.kind.value if change.kind != "links" else "links only"] += 1
            counts["within"] += change.text and change.distance is not None and change.distance <= 6
        total.update(counts)
        _layer_row(site, counts)
    _layer_row("all", total)


def _layer_row(site: str, counts: Counter[str]) -> None:
    shown = ("text", "main", "main_links", "links", "auto", "outside main", "content", "links only", "markup")
    cells = " | ".join(f"{100 * counts[name] / max(counts['pairs'], 1):.0f}" for name in shown)
    print(
        f"| {site} | {counts['pairs']} | {cells} | {100 * counts['within'] / max(counts['text'], 1):.0f} |", flush=True
    )


# ── labelled pairs ──────────────────────────────────────────────────────────────────────────────────────────


def measure_pairs() -> None:
    cases = [case for case in json.loads(_PAIRS.read_text("utf-8")) if case["media"] == "text/html"]
    changes = sum(case["meaningful_change"] for case in cases)
    print(f"\n## Labelled pairs (HTML: {changes} changes, {len(cases) - changes} without a change)\n")
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
    print(f"\n## Data files (up to {count} version pairs with different bytes per site)\n")
    print("| site | pairs | data differ | data equal | compared by bytes |")
    print("|---|---:|---:|---:|---:|")
    for site in DATA_SITES:
        counts: Counter[str] = Counter()
        for path, old, new in sampled_pairs(data, site, count):
            before, after = parsed(path, old, site).fingerprint, parsed(path, new, site).fingerprint
            change = judge(before, False, Observation(url=_URL, at=0.0, status=200, fingerprint=after))
            counts["pairs"] += 1
            counts["bytes" if change.layer != "data" else "differ" if change.counts else "equal"] += 1
        print(
            f"| {site} | {counts['pairs']} | {counts['differ']} | {counts['equal']} | {counts['bytes']} |", flush=True
        )


# ── noise ───────────────────────────────────────────────────────────────────────────────────────────────────


def measure_noise(data: Path, count: int, days: float) -> None:
    print(f"\n## Noise (the {count} pages with the most versions per site, visited every {days:g} days)\n")
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
            same = Observation(url=_URL, at=at, status=200, fingerprint=before)
            memory = remember(memory, before, same, judge(before, False, same, memory=memory))
            continue
        now, blob, then_words = parsed(path, bodies[current], site), current, words
        current_observation = observation_of(now, _URL, at, memory.runs)
        plain = judge(before, False, current_observation, memory=replace(memory, noise=()))
        change = judge(before, False, current_observation, memory=memory)
        words = Counter(map(run_shape, main_text(now).split("\n")))
        hidden = plain.counts and not change.counts
        counts.update(raw=plain.raw, without=plain.counts, hidden=hidden, words=hidden and words != then_words)
        counts["with"] += change.counts
        memory, before = remember(memory, before, current_observation, change), now.fingerprint
        learned |= {place.key for place in memory.noise if place.state == "learned"}
        counts["memory"] = max(counts["memory"], len(pack(memory)))
    counts["places"] = len(learned)
    return counts


def _visits(versions: list[Version], days: float) -> Iterator[tuple[float, str]]:
    """(Time in seconds, content) of visits at a fixed interval, from the first version until after the last."""
    index, at_ms = 0, versions[0].at_ms
    while at_ms <= versions[-1].at_ms + days * _DAY_MS:
        while index + 1 < len(versions) and versions[index + 1].at_ms <= at_ms:
            index += 1
        yield at_ms / 1000, versions[index].blob
        at_ms += int(days * _DAY_MS)


# ── error pages ──────────────────────────────────────────────────────────────────────────────────────────────


def measure_error_pages(data: Path, count: int) -> None:
    print(f"\n## Error pages (up to {count} version pairs per site; every match is a false alarm)\n")
    matches, pairs = [], 0
    for site in HTML_SITES:
        for path, old, new in sampled_pairs(data, site, count):
            pairs += 1
            url, kind = f"https://{site}.example/{path}", MEDIA[path.rpartition(".")[2].lower()]
            for before in (None, parsed(path, old, site).fingerprint):
                job = ParseJob(url=url, body=new, content_type=kind, before=before, max_decoded=_MAX_BYTES)
                match = parse_content(job).error_page
                if match is not None:
                    matches.append(f"{site}/{path}: {match.kind.value}, {match.detail}")
    print(f"{len(matches)} alarms; {pairs} real versions, each as a first version and after the one before")
    print("\n".join(matches))


if __name__ == "__main__":
    main()
