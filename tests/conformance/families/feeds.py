"""Feeds, well-formed and not (after feedparser's tests): entries with their ids, addresses, titles and times.

The expectations are in that library's own words, as Python expressions over `feed` and `entries`. Read of them is what
concerns entries and what a `FeedEntry` holds; of the other cases it counts that they are read, with as many entries as
they name.
"""

from __future__ import annotations

import ast
import base64
import calendar
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.observe.data.feed import parse_feed
from webstrata.observe.data.feed_entry import FeedEntry

FAMILY = "feeds"
_BASE = "http://127.0.0.1:8097/tests/feed.xml"
_TAG = re.compile(r"<[^<>]*>")

# Cases recognised by name or body; the reasons are in docs/decisions/0019-feed-and-sitemap-parsers.md.
_CONTESTED_NAMES = ("/sanitize/", "/media-rss/", "/base/http_", "_multiple_values")
_CONTESTED_BODY = b'mode="base64"'


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        body = base64.b64decode(case["feed_base64"]) if "feed_base64" in case else case["feed"].encode("utf-8")
        entries = parse_feed(body, None, _BASE).entries
        wanted = list(_wanted(ast.parse(case["expect_feedparser"], mode="eval")))
        actual = [(number, field, _shown(entries, number, field, value)) for number, field, value in wanted]
        contested = _CONTESTED_BODY in body or any(part in case["id"] for part in _CONTESTED_NAMES)
        verdict.check(case["id"], wanted, actual, contested=contested)
    return verdict


def _wanted(expression: ast.Expression) -> Iterator[tuple[int, str, Any]]:
    """(entry, field, value) of what an expectation says of entries; the field is empty where they only have to be."""
    for node in ast.walk(expression):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            continue
        match node.left:
            case ast.Subscript(
                value=ast.Subscript(value=ast.Name(id="entries"), slice=ast.Constant(value=int(number))),
                slice=ast.Constant(value=str(field)),
            ):
                value = ast.literal_eval(node.comparators[0])
                yield (number, field, _plain(field, value)) if field in _FIELDS else (number, "", True)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id="entries")]):
                yield ast.literal_eval(node.comparators[0]) - 1, "", True


def _plain(field: str, value: Any) -> Any:
    if field == "title":
        return _words(value)
    return float(calendar.timegm(value)) if field.endswith("_parsed") else value


def _shown(entries: tuple[FeedEntry, ...], number: int, field: str, expected: Any) -> Any:
    if number >= len(entries):
        return None
    entry = entries[number]
    if field == "title" and entry.title == expected:
        return expected
    return _FIELDS[field](entry) if field else True


def _words(text: str) -> str:
    """Titles are plain text here, and may be markup there."""
    return " ".join(unescape(_TAG.sub("", text)).split())


_FIELDS = {
    "id": lambda entry: entry.id,
    "guid": lambda entry: entry.id,
    "link": lambda entry: entry.url,
    "title": lambda entry: _words(entry.title),
    "updated_parsed": lambda entry: entry.updated_at,
    "published_parsed": lambda entry: entry.updated_at,
}
