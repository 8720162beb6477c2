"""Measures which byte changes of recorded data change the data: `python tools/measure_data.py --data FOLDER [SITE…]`.

FOLDER contains pairs of Parquet files in the format of `webstrata.lab.livingweb.recording`. Every version of a file is
compared with the previous one as the crawler compares them: by the digest of their data. The format is detected from
the file name, because the recordings have no media types.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.dispatch import data_digest
from webstrata.records import PageRules

SITES = (
    *("activitystreams", "brick", "dcat", "schemaorg", "wot-td"),
    *("oil-prices", "sp500", "country-codes", "congress", "countries"),
)
_UNORDERED = PageRules(unordered=True)


def pairs(folder: Path, site: str) -> Iterator[tuple[str, bytes, bytes]]:
    """(path, content before, content after) of every change."""
    table = pq.read_table(folder / f"{site}.blobs.parquet")
    contents = dict(zip(table["blob"].to_pylist(), table["content"].to_pylist(), strict=True))
    last: dict[str, str | None] = {}
    for row in pq.read_table(folder / f"{site}.versions.parquet").to_pylist():
        before, after = last.get(row["path"]), row["blob"]
        last[row["path"]] = after
        if before and after and before != after:
            yield row["path"], contents[before], contents[after]


def count(folder: Path, site: str) -> dict[str, Counter[str]]:
    """Counts by kind of data: changes, equal data, equal except for row order, without digest, compared as JSON."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    digests: dict[tuple[str, bytes], tuple[DataDigest | None, float]] = {}
    for path, before, after in pairs(folder, site):
        for body in (before, after):
            if (path, body) not in digests:
                digests[path, body] = _timed(body, path)
        old, old_seconds = digests[path, before]
        new, new_seconds = digests[path, after]
        if old is None or new is None:
            continue
        row = counts[new.kind]
        row["changes"] += 1
        row["seconds, slowest"] = max(row["seconds, slowest"], round(old_seconds), round(new_seconds))
        if old.digest is None or new.digest is None:
            row["not read"] += 1
        elif old.digest == new.digest:
            row["equal"] += 1
        elif new.kind == "table" and _unordered(before, path) == _unordered(after, path):
            row["equal but for order"] += 1
        if new.note is not None and new.digest is not None:
            row["as JSON"] += 1
    return counts


def _timed(body: bytes, path: str) -> tuple[DataDigest | None, float]:
    started = time.process_time()
    return data_digest(body, "", None, f"https://example.org/{path}"), time.process_time() - started


def _unordered(body: bytes, path: str) -> str | None:
    data = data_digest(body, "", None, f"https://example.org/{path}", _UNORDERED)
    return None if data is None else data.digest


_COLUMNS = ("changes", "equal", "equal but for order", "not read", "as JSON", "seconds, slowest")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tools/measure_data.py", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("sites", nargs="*", default=SITES)
    arguments = parser.parse_args()
    print(f"| site | kind | {' | '.join(_COLUMNS)} |")
    print(f"|---|---|{'---:|' * len(_COLUMNS)}")
    for site in arguments.sites:
        for kind, row in sorted(count(arguments.data, site).items()):
            print(f"| {site} | {kind} | {' | '.join(str(row[column]) for column in _COLUMNS)} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
