"""The labelled pairs of a folder such as `tests/data/labelled-pairs`. Its README describes the files."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from msgspec import Struct

MEANINGFUL, NOT_MEANINGFUL, DISPUTED = "meaningful", "not", "disputed"

_MEDIA_TYPES = {
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "json": "application/json",
    "jsonld": "application/ld+json",
    "owl": "text/turtle",
    "rdf": "application/rdf+xml",
    "rss": "application/rss+xml",
    "ttl": "text/turtle",
    "xml": "application/xml",
}


class OtherPage(Struct, frozen=True):
    """Another page of the site, just before and with the publication of a pair's newer version."""

    path: str
    before: bytes | None
    after: bytes


class LabelledPair(Struct, frozen=True, kw_only=True):
    """Two successive versions of a page or data file, and whether a reader would want to know of the difference."""

    id: str
    site: str
    split: str
    """`tune` or `report`, by site."""
    kind: str
    """`html` or `data`."""
    draw: str
    """`versions` (any successive versions) or `edits` (pages of publications with few pages)."""
    path: str
    before: bytes
    after: bytes
    label: str
    """`meaningful`, `not`, or `disputed` if two readings of the difference disagree."""
    importance: str
    """Of a meaningful difference: `trivial`, `minor` or `notable`."""
    reason: str
    others: tuple[OtherPage, ...]
    """From these the template of the site can be learned."""

    @property
    def media_type(self) -> str:
        """The type with which a server sends files of this name."""
        return _MEDIA_TYPES[self.path.rpartition(".")[2]]


def read_pairs(folder: Path) -> list[LabelledPair]:
    """All pairs, in the order of the files."""
    table: Any = pq.read_table(folder / "contents.parquet")
    contents = dict(zip(table["blob"].to_pylist(), table["content"].to_pylist(), strict=True))
    labels = {row["id"]: row for row in _rows(folder / "labels.csv")}
    others: defaultdict[str, list[OtherPage]] = defaultdict(list)
    for row in _rows(folder / "other-pages.csv"):
        before = contents[row["before"]] if row["before"] else None
        others[row["pair"]].append(OtherPage(row["path"], before, contents[row["after"]]))
    return [
        LabelledPair(
            id=row["id"],
            site=row["site"],
            split=row["split"],
            kind=row["kind"],
            draw=row["draw"],
            path=row["path"],
            before=contents[row["before"]],
            after=contents[row["after"]],
            label=labels[row["id"]]["label"],
            importance=labels[row["id"]]["importance"],
            reason=labels[row["id"]]["reason"],
            others=tuple(others[row["id"]]),
        )
        for row in _rows(folder / "pairs.csv")
    ]


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
