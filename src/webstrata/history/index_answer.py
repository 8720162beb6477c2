"""Answers of CDX servers: their form is recognised by the content, because servers write what they like.

The Wayback Machine sends one JSON array of arrays, of which the first names the fields, or lines of seven fields; after
an empty row it names a resume key if there is more. pywb sends a JSON object per line, lines of CDXJ, or CDX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec import Struct

from webstrata.history.cdx import CdxFormat, cdx_legend, guessed_row
from webstrata.history.cdxj import cdxj_row
from webstrata.history.index_row import IndexRow
from webstrata.history.text_lines import MAX_LINE_BYTES
from webstrata.records import Failure, FailureKind

_NAMES = {
    "timestamp": "timestamp",
    "original": "url",
    "url": "url",
    "mimetype": "mime",
    "mime": "mime",
    "statuscode": "status",
    "status": "status",
    "digest": "digest",
}
"""Field of an answer -> field of a row."""
_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{1,200})", re.IGNORECASE)
_SAID = 100
_MAX_KEY = 4096


class _ObjectRow(Struct, frozen=True, gc=False):
    """A row as a JSON object, with the field names of both dialects."""

    timestamp: str | int = ""
    url: str | None = None
    original: str | None = None
    mime: str | None = None
    mimetype: str | None = None
    status: str | int | None = None
    statuscode: str | int | None = None
    digest: str | None = None

    def row(self) -> IndexRow:
        return IndexRow(
            url=self.url or self.original or "",
            timestamp=str(self.timestamp),
            mime=self.mime or self.mimetype or "",
            status=str(self.status if self.status is not None else self.statuscode or ""),
            digest=self.digest or "",
        )


_raw_rows = msgspec.json.Decoder(list[msgspec.Raw])
_values = msgspec.json.Decoder(list[str | int | float | None])
_object_row = msgspec.json.Decoder(_ObjectRow)
_BAD_JSON = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError)


class IndexAnswer(NamedTuple):
    """The rows of an answer; a sentence stands for a row that cannot be parsed."""

    rows: Iterator[IndexRow | str]
    resume_key: str = ""
    """With it the next rows can be requested; empty if the server names none."""


def index_answer(body: bytes) -> IndexAnswer | Failure:
    """The rows of an answer; a failure if it is no index, or ends early."""
    start = body.lstrip()[:1]
    if not start:
        return IndexAnswer(iter(()))
    if start == b"[":
        return _array(body)
    if start == b"<":
        title = _TITLE.search(body[: 1 << 16])
        named = f" ({_shown(title[1])})" if title is not None else ""
        return _unexpected(f"a page of HTML or XML instead of an index{named}")
    return _lines(body)


def page_count(body: bytes) -> int:
    """The number of pages that a server states for `showNumPages`; 0 if it states none."""
    try:
        stated = msgspec.json.decode(body)
    except _BAD_JSON:
        return 0
    while isinstance(stated, list) and len(stated) == 1:
        stated = stated[0]
    if isinstance(stated, dict):
        stated = stated.get("pages")
    if isinstance(stated, str) and stated.isascii() and stated.isdigit():
        stated = int(stated[:9])
    return stated if type(stated) is int and stated > 0 else 0


# ── one JSON array ──────────────────────────────────────────────────────────────────────────────────────────


def _array(body: bytes) -> IndexAnswer | Failure:
    try:
        raw = _raw_rows.decode(body)
    except _BAD_JSON as problem:
        return _incomplete(f"its JSON is not complete or not valid ({problem})")
    if raw and bytes(raw[0]).startswith(b"{"):
        return IndexAnswer(_parsed(bytes(one)) for one in raw)
    key = ""
    if len(raw) >= 2 and _cells(raw[-2]) == [] and (last := _cells(raw[-1])) is not None and len(last) == 1:
        key = str(last[0])[:_MAX_KEY]
        raw = raw[:-2]
    if not raw:
        return IndexAnswer(iter(()), key)
    names = [_NAMES.get(str(name), "") for name in _cells(raw[0]) or ()]
    if not {"url", "timestamp"} <= set(names):
        return _unexpected(f"JSON without the fields `original` and `timestamp`: {_shown(bytes(raw[0]))}")
    return IndexAnswer((_row_of_cells(names, _cells(one)) for one in raw[1:]), key)


def _cells(raw: msgspec.Raw) -> list[str | int | float | None] | None:
    try:
        return _values.decode(raw)
    except _BAD_JSON:
        return None


def _row_of_cells(names: list[str], cells: list[str | int | float | None] | None) -> IndexRow | str:
    if cells is None:
        return "not an array of texts"
    if len(cells) != len(names):
        return f"{len(cells)} fields instead of {len(names)}"
    fields = {name: "" if cell is None else str(cell) for name, cell in zip(names, cells, strict=True) if name}
    return IndexRow(**fields)


# ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(body: bytes) -> IndexAnswer | Failure:
    """JSON objects, CDXJ or CDX, one per line."""
    first = _first_line(body)
    formatted = cdx_legend(first)
    if formatted is None and isinstance(problem := _line_row(first, None), str):
        return _unexpected(f"no rows of an index, but {_shown(body)!r} ({problem})")
    end, key = _resume_key(body)
    last = body[body.rfind(b"\n", 0, end) + 1 : end]
    if key == "" and last and isinstance(_line_row(last.decode("utf-8", "replace"), formatted), str):
        return _incomplete("its last line is not complete")
    return IndexAnswer(_rows(body, end, formatted), key)


def _first_line(body: bytes) -> str:
    """The first line, or its beginning."""
    text = body[: 2 * MAX_LINE_BYTES].lstrip(b"\r\n")
    return text.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")


def _resume_key(body: bytes) -> tuple[int, str]:
    """Where the rows end, and the resume key: the last line, if the line before it is empty."""
    stripped = body.rstrip()
    head, _, last = stripped.rpartition(b"\n")
    if not head.rstrip(b"\r").endswith(b"\n") or b" " in last or len(last) > _MAX_KEY:
        return len(body), ""
    return len(head), last.decode("utf-8", "replace")


def _rows(body: bytes, end: int, formatted: CdxFormat | None) -> Iterator[IndexRow | str]:
    start = 0
    while start < end:
        stop = body.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        if stop - start > MAX_LINE_BYTES:
            yield "the line is longer than 64 KB"
        else:
            try:
                line = body[start:stop].decode().rstrip("\r")
            except UnicodeDecodeError:
                yield "not UTF-8"
            else:
                if line.strip() and cdx_legend(line) is None:
                    yield _line_row(line, formatted)
        start = stop + 1


def _line_row(line: str, formatted: CdxFormat | None) -> IndexRow | str:
    if line.startswith("{"):
        return _parsed(line.encode("utf-8", "surrogatepass"))
    if line.endswith("}"):
        return cdxj_row(line)
    return formatted.row(line) if formatted is not None else guessed_row(line)


def _parsed(data: bytes) -> IndexRow | str:
    try:
        found = _object_row.decode(data)
    except _BAD_JSON as problem:
        return f"its JSON cannot be read ({problem})"
    return found.row() if found.timestamp else "a JSON object without a timestamp"


# ── failures ────────────────────────────────────────────────────────────────────────────────────────────────


def _shown(data: bytes) -> str:
    text = " ".join(data[: 4 * _SAID].decode("utf-8", "replace").split())
    return "".join(sign for sign in text[:_SAID] if sign.isprintable())


def _unexpected(detail: str) -> Failure:
    return Failure(kind=FailureKind.UNEXPECTED, detail=f"the answer is {detail}")


def _incomplete(detail: str) -> Failure:
    return Failure(kind=FailureKind.PARTIAL, detail=f"the answer cannot be used: {detail}")
