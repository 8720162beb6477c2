"""Feeds, well-formed and not (after feedparser's tests): entries with their ids, addresses, titles and times.

The expectations are in that library's own words, as Python expressions over `feed` and `entries`. Read of them is what
concerns entries and what a `FeedEntry` holds; of the other cases it counts that they are read, with as many entries as
they name.
"""

from __future__ import annotations

import ast
import calendar
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.observe.data.feed import parse_feed
from webstrata.observe.data.feed_entry import FeedEntry

FAMILY = "feeds"
_BASE = "http://127.0.0.1:8097/tests/feed.xml"
_TAG = re.compile(r"<[^<>]*>")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_HEADER = re.compile(rb"^\s*Header:\s*Content-Location:", re.MULTILINE | re.IGNORECASE)
_ACTIVE = re.compile(rb"<(script|style|object|embed|applet|iframe)\b|&lt;(script|style|object|embed)", re.IGNORECASE)
_REPEATED = re.compile(rb"<(\w+)>[^<]*</\1>\s*<\1>")


class Wanted(NamedTuple):
    entry: int
    field: str
    """Empty if the entry only has to exist."""
    value: Any


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    body, wanted = case.body("feed"), _wanted_of(case.text("expect_feedparser"))
    entries = parse_feed(body, None, _BASE).entries
    actual = [Wanted(number, field, _shown(entries, number, field, value)) for number, field, value in wanted]
    verdict.check(case.id, wanted, actual, contested=sentence_of(_RULES, body, wanted))


def _wanted_of(expression: str) -> list[Wanted]:
    try:
        return list(_wanted(ast.parse(expression, mode="eval")))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise UnplayableError(f"'expect_feedparser' cannot be read: {error}") from None


def _wanted(expression: ast.Expression) -> Iterator[Wanted]:
    """What an expectation says of entries."""
    for node in ast.walk(expression):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            continue
        match node.left:
            case ast.Subscript(
                value=ast.Subscript(value=ast.Name(id="entries"), slice=ast.Constant(value=int(number))),
                slice=ast.Constant(value=str(field)),
            ):
                value = ast.literal_eval(node.comparators[0])
                yield Wanted(number, field, _plain(field, value)) if field in _FIELDS else Wanted(number, "", True)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id="entries")]):
                count = ast.literal_eval(node.comparators[0])
                if count:
                    yield Wanted(count - 1, "", True)


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


def _fields(wanted: list[Wanted]) -> set[str]:
    return {each.field for each in wanted}


def _has_base64(body: bytes, wanted: list[Wanted]) -> bool:
    """The title of an Atom 0.3 entry with `mode="base64"` is compared as it is written, not decoded
    (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    return b'mode="base64"' in body and "title" in _fields(wanted)


def _has_active_markup(body: bytes, wanted: list[Wanted]) -> bool:
    """Titles are text that is compared and not shown as HTML: markup is removed, the text of scripts and styles is
    not (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    return "title" in _fields(wanted) and _ACTIVE.search(_COMMENT.sub(b"", body)) is not None


def _has_media_title(body: bytes, wanted: list[Wanted]) -> bool:
    """`media:title` is the title of a picture or a film, not of the entry
    (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    return "title" in _fields(wanted) and b"<media:title" in body


def _needs_content_location(body: bytes, wanted: list[Wanted]) -> bool:
    """The header Content-Location does not change the base URL; `xml:base` does
    (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    return bool(_fields(wanted) & {"id", "guid", "link"}) and any(
        _HEADER.search(comment) for comment in _COMMENT.findall(body)
    )


def _repeats_a_field(body: bytes, wanted: list[Wanted]) -> bool:
    """If an entry has the same element twice in a row, the first value counts
    (docs/decisions/0019-feed-and-sitemap-parsers.md)."""
    return bool(_fields(wanted) - {""}) and _REPEATED.search(body) is not None


_RULES = (_has_base64, _has_active_markup, _has_media_title, _needs_content_location, _repeats_a_field)
