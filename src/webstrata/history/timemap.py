"""TimeMaps (RFC 7089), which list the mementos of a page: link-format, JSON, CDXJ, and the indexes that servers send.

A TimeMap has no digests: its mementos say when there are copies, not whether the page had changed. pywb and the Wayback
Machine answer some requests for TimeMaps with rows of their index, which have digests.

All functions are pure, never raise for bytes from outside, and take time in proportion to the size of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec import Struct

from webstrata.history.index_answer import index_answer
from webstrata.history.index_row import IndexRow, instant
from webstrata.records import Failure, FailureKind


class Memento(NamedTuple):
    """A copy in an archive, as a TimeMap lists it."""

    uri: str
    datetime: str
    """As it is written; empty if there is none."""


class FurtherMap(NamedTuple):
    """A TimeMap that has more mementos of the page."""

    uri: str


class OriginalPage(NamedTuple):
    """The page whose mementos are listed."""

    uri: str


TimeMapItem = Memento | FurtherMap | OriginalPage | IndexRow | str
"""A sentence stands for a link or a line that cannot be parsed."""

_LINK = re.compile(
    r"<(?P<uri>[^<>\x00-\x1f]{1,10000})>"
    r'(?P<parameters>(?:\s*;\s*[\w!#$&+.^`|~-]{1,40}\*?(?:\s*=\s*(?:"[^"<>]{0,1000}"|[^\s;,"<>]{0,200}))?)*)'
    r"\s*(?:,|$|(?=<))",
    re.ASCII,
)
_PARAMETER = re.compile(r'([\w!#$&+.^`|~-]{1,40}\*?)\s*=\s*(?:"([^"<>]{0,1000})"|([^\s;,"<>]{0,200}))', re.ASCII)
_LINK_START = re.compile(rb"<(?:[a-zA-Z][a-zA-Z0-9+.-]{0,20}:|/)")
_LINE_START = re.compile(rb"[!@]|[0-9]{14}\s*\{")
_FORMATS = ("", "application/link-format")
"""Media types of further TimeMaps that are read; aggregators name the same map in other formats too."""
_SHOWN = 100
_BAD_JSON = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError)


def timemap_items(body: bytes) -> Iterator[TimeMapItem] | Failure:
    """The items of a TimeMap in any format; a failure if the content is no TimeMap or ends early."""
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:64]
    if not start:
        return iter(())
    if _LINK_START.match(start):
        return _link_items(body.decode("utf-8", "replace"))
    if _LINE_START.match(start):
        return _cdxj_items(body)
    if start.startswith(b"{") and (found := _json_items(body)) is not None:
        return found
    index = index_answer(body)
    return index if isinstance(index, Failure) else index.rows


# ── link-format ─────────────────────────────────────────────────────────────────────────────────────────────


class WebLink(NamedTuple):
    """A link of a TimeMap or a Link header (RFC 8288); names of parameters are in lower case."""

    uri: str
    parameters: dict[str, str]


def web_links(text: str) -> Iterator[WebLink | str]:
    """The links of a TimeMap in link-format, or of a Link header; a sentence for a place that has none."""
    at = text.find("<")
    while at >= 0:
        found = _LINK.match(text, at)
        if found is None:
            end = text.find("<", at + 1)
            yield f"not a link: {_printable(text[at : at + _SHOWN])}"
            at = end
            continue
        parameters: dict[str, str] = {}
        for name, quoted, token in _PARAMETER.findall(found["parameters"]):
            parameters.setdefault(name.lower(), quoted or token)
        yield WebLink(found["uri"], parameters)
        at = text.find("<", found.end())


def _link_items(text: str) -> Iterator[TimeMapItem]:
    for link in web_links(text):
        item = link if isinstance(link, str) else _link_item(link.uri, link.parameters)
        if item is not None:
            yield item


def _link_item(uri: str, parameters: dict[str, str]) -> TimeMapItem | None:
    relations = parameters.get("rel", "").lower().split()
    if "memento" in relations:
        return Memento(uri, parameters.get("datetime", ""))
    if "original" in relations:
        return OriginalPage(uri)
    if "timemap" in relations and "self" not in relations and parameters.get("type", "") in _FORMATS:
        return FurtherMap(uri)
    return None


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


class _MapEntry(Struct, frozen=True, gc=False):
    uri: str | list[str] = ""
    datetime: str = ""


class _Mementos(Struct, frozen=True, rename={"entries": "list"}):
    entries: list[msgspec.Raw] = []


class _Pages(Struct, frozen=True):
    next: _MapEntry | None = None
    prev: _MapEntry | None = None


class _JsonMap(Struct, frozen=True):
    original_uri: str = ""
    mementos: _Mementos | None = None
    timemap_index: list[_MapEntry] = []
    pages: _Pages | None = None


_json_map = msgspec.json.Decoder(_JsonMap)
_entry = msgspec.json.Decoder(_MapEntry)


def _json_items(body: bytes) -> Iterator[TimeMapItem] | Failure | None:
    """The items of a TimeMap in JSON, as MemGator and the Time Travel service write it; None for other JSON."""
    try:
        found = _json_map.decode(body)
    except _BAD_JSON as problem:
        if b'"original_uri"' not in body[: 1 << 16]:
            return None
        detail = f"the TimeMap cannot be used: its JSON is not complete or not valid ({problem})"
        return Failure(kind=FailureKind.PARTIAL, detail=detail)
    if not found.original_uri and found.mementos is None and not found.timemap_index:
        return None
    return _of_json(found)


def _of_json(found: _JsonMap) -> Iterator[TimeMapItem]:
    if found.original_uri:
        yield OriginalPage(found.original_uri)
    further = list(found.timemap_index)
    if found.pages is not None:
        further += [page for page in (found.pages.prev, found.pages.next) if page is not None]
    yield from (FurtherMap(uri) for entry in further if (uri := _uri(entry)))
    for raw in found.mementos.entries if found.mementos is not None else ():
        try:
            entry = _entry.decode(raw)
        except _BAD_JSON as problem:
            yield f"not a memento ({problem})"
        else:
            yield Memento(_uri(entry), entry.datetime)


def _uri(entry: _MapEntry) -> str:
    """The Time Travel service gives a list of URIs, of which the first is the memento."""
    return entry.uri if isinstance(entry.uri, str) else next(iter(entry.uri), "")


# ── CDXJ ────────────────────────────────────────────────────────────────────────────────────────────────────


class _CdxjMemento(Struct, frozen=True, gc=False):
    uri: str = ""
    datetime: str = ""


class _Meta(Struct, frozen=True, gc=False):
    original_uri: str = ""


_cdxj_memento = msgspec.json.Decoder(_CdxjMemento)
_meta = msgspec.json.Decoder(_Meta)


def _cdxj_items(body: bytes) -> Iterator[TimeMapItem]:
    """The lines of a TimeMap in CDXJ, as MemGator and ipwb write it: 14 digits and a JSON object."""
    start = 0
    while start < len(body):
        stop = body.find(b"\n", start)
        stop = len(body) if stop < 0 else stop
        line = body[start:stop].strip(b"\xef\xbb\xbf \t\r")
        start = stop + 1
        if line and (item := _cdxj_item(line)) is not None:
            yield item


def _cdxj_item(line: bytes) -> TimeMapItem | None:
    head, brace, rest = line.partition(b"{")
    try:
        if head[:1] in (b"!", b"@"):
            if head[1:].split() != [b"meta"] or not brace:
                return None
            original = _meta.decode(brace + rest).original_uri
            return OriginalPage(original) if original else None
        found = _cdxj_memento.decode(brace + rest)
    except _BAD_JSON:
        return f"not a line of a TimeMap: {_printable(line[:_SHOWN].decode('utf-8', 'replace'))}"
    digits = head.strip().decode("utf-8", "replace")
    return Memento(found.uri, digits or found.datetime)


def _printable(text: str) -> str:
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


# ── mementos ────────────────────────────────────────────────────────────────────────────────────────────────

_HOST = re.compile(r"(?:https?:)?//(?:[^/?#@]*@)?(?P<host>[\w.-]{1,255})", re.ASCII | re.IGNORECASE)
_IN_URI = re.compile(r"/(?P<digits>[0-9]{14})(?:[a-z]{2}_)?/(?P<page>https?:/.+)?", re.ASCII | re.DOTALL)
_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: f"{number:02d}" for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_RFC_1123 = re.compile(
    r"(?:[a-z]{3}, )?(?P<day>\d\d?) (?P<month>[a-z]{3}) (?P<year>\d{4}) (?P<time>\d\d:\d\d:\d\d) "
    r"(?:gmt|utc|z|[+-]0000)",
    re.ASCII | re.IGNORECASE,
)
_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+-]00:?00)?", re.ASCII | re.IGNORECASE
)


def memento_instant(memento: Memento) -> float | None:
    """When the content was captured; None if the date is missing or not a date.

    It is written as in RFC 1123, in ISO 8601 or in 14 digits; without it, the 14 digits in the URI count.
    """
    text = memento.datetime.strip()
    if not text:
        inside = _IN_URI.search(memento.uri)
        return instant(inside["digits"]) if inside is not None else None
    if (found := _RFC_1123.fullmatch(text)) is not None:
        month = _MONTHS.get(found["month"].lower(), "00")
        text = f"{found['year']}{month}{int(found['day']):02d}{found['time'].replace(':', '')}"
    elif (found := _ISO.fullmatch(text)) is not None:
        text = found["date"].replace("-", "") + found["time"].replace(":", "")
    return instant(text)


def memento_archive(memento: Memento) -> str:
    """The archive that has a memento: the host of its URI; empty if the URI names none."""
    found = _HOST.match(memento.uri)
    return found["host"].lower() if found is not None else ""


def memento_page(memento: Memento) -> str:
    """The URL of the page in the URI of a memento; empty if there is none."""
    found = _IN_URI.search(memento.uri)
    return (found["page"] or "") if found is not None else ""
