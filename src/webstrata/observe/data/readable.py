"""The triples, rows, values or entries of a body, from which differences are shown to users."""

from __future__ import annotations

import hashlib
import json as standard_json
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from webstrata.observe.data.dispatch import data_format
from webstrata.observe.data.feed import parse_feed
from webstrata.observe.data.feed_entry import FeedEntry
from webstrata.observe.data.json import json_text
from webstrata.observe.data.rdf.graph import FORMATS, NotAGraphError, quads_of
from webstrata.observe.data.rdf.quads import split
from webstrata.observe.data.rdf.rdfc import by_node, first_degree
from webstrata.observe.data.table import delimiter_of, rows_of
from webstrata.observe.documents.spreadsheet_data import spreadsheet_sheets

MAX_BYTES = 20_000_000
"""Larger bodies are compared as text."""
_MAX_ROWS = 200_000


class ReadableData(Struct, frozen=True, kw_only=True):
    """The data in a body; at most one of the fields is set."""

    triples: tuple[str, ...] | None = None
    table: tuple[tuple[str, ...], ...] | None = None
    sheets: dict[str, list[tuple[str, ...]]] | None = None
    """The rows of the sheets of a spreadsheet, by name."""
    document: Any | UnsetType = UNSET
    entries: tuple[FeedEntry, ...] | None = None
    """The entries of a feed, with the text of their contents."""


def readable(body: bytes, media_type: str, charset: str | None, url: str) -> ReadableData:
    """Parse a body. Never raises; the result is empty for other formats and if the body is too large or malformed."""
    if len(body) > MAX_BYTES:
        return ReadableData()
    name = data_format(body, media_type, url)
    if name in FORMATS:
        return ReadableData(triples=_triples(body, charset, url, name))
    if name in ("csv", "tsv"):
        return ReadableData(table=_table(json_text(body, charset), "\t" if name == "tsv" else ","))
    if name == "feed":
        feed = parse_feed(body, charset, url, with_content=True)
        return ReadableData(entries=None if feed.problem else feed.entries)
    if name == "spreadsheet":
        return ReadableData(sheets=spreadsheet_sheets(body, media_type, url))
    if name == "json":
        try:
            return ReadableData(document=standard_json.loads(json_text(body, charset)))
        except (ValueError, RecursionError):
            return ReadableData()
    return ReadableData()


def _triples(body: bytes, charset: str | None, url: str, syntax: str) -> tuple[str, ...] | None:
    """N-Quads lines. The label of a blank node is a hash of its triples, so that it is the same in both versions."""
    try:
        ground, quads = split(quads_of(body, charset, url, syntax=syntax))
    except NotAGraphError:
        return None
    names = {node: b"_:" + first_degree(node, about, _short_hash) for node, about in by_node(quads).items()}
    lines = [*ground, *(quad.named(names) for quad in quads)]
    return tuple(line.decode("utf-8", "replace") for line in lines)


def _short_hash(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest()[:12].encode()


def _table(text: str, likely: str) -> tuple[tuple[str, ...], ...] | None:
    rows = []
    for row in rows_of(text, delimiter_of(text, likely)):
        rows.append(tuple(map(str.strip, row)))
        if len(rows) > _MAX_ROWS:
            return None
    return tuple(rows)
