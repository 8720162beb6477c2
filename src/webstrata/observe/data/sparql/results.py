"""SPARQL query results: XML, JSON, CSV and TSV read to one form, whoever serialised them.

    read_results(body, media_type) -> Results            raises NotResults with the reason
    canonical(results) -> bytes                          see `sparql_order`

Strict about shape (a document cut off, or an error page, is no result), lenient about spelling (datatypes that say
nothing, letters of language tags). CSV does not tell IRIs from literals; there all values are literals.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

JSON = "application/sparql-results+json"
XML = "application/sparql-results+xml"
CSV = "text/csv"
TSV = "text/tab-separated-values"

_XSD = "http://www.w3.org/2001/XMLSchema#"
_SAYS_NOTHING = frozenset({_XSD + "string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"})
_DEEPEST_TRIPLE = 50
_FORMATS = {JSON: "json", "application/json": "json", XML: "xml", "application/xml": "xml", "text/xml": "xml"}
_FORMATS |= {CSV: "csv", TSV: "tsv"}


class NotResultsError(ValueError):
    """Not a whole document of SPARQL results; the text says why."""


class Term(NamedTuple):
    """An RDF term. Of a quoted triple, `inner` holds subject, predicate and object."""

    kind: Literal["uri", "bnode", "literal", "triple"]
    value: str
    language: str = ""
    datatype: str = ""
    inner: tuple[Term, ...] = ()


Row = tuple[Term | None, ...]


class Results(Struct, frozen=True, kw_only=True):
    """Rows of SELECT, or the answer of ASK."""

    vars: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    """Values in the order of `vars`; none: not bound."""
    boolean: bool | None = None


def read_results(body: bytes, media_type: str) -> Results:
    """Read a whole document of results. Raises NotResults."""
    form = _FORMATS.get(media_type.strip().lower())
    if form == "json":
        return _read_json(body)
    if form == "xml":
        from webstrata.observe.data.sparql.xml import read_xml

        return read_xml(body)
    if form == "csv":
        return _read_csv(body)
    if form == "tsv":
        return _read_tsv(body)
    raise NotResultsError(f"{media_type or 'an answer without a media type'} is no format of SPARQL results")


def term(kind: str, value: str, language: str = "", datatype: str = "") -> Term:
    """A term spelled in one way; raises NotResults for an unknown kind."""
    if kind == "uri":
        return Term("uri", value)
    if kind == "bnode":
        return Term("bnode", value)
    if kind in ("literal", "typed-literal"):
        return Term("literal", value, language.lower(), "" if language or datatype in _SAYS_NOTHING else datatype)
    raise NotResultsError(f"a term of unknown type {kind[:40]!r}")


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


class _JsonTerm(Struct):
    type: str
    value: Any
    language: str = msgspec.field(name="xml:lang", default="")
    datatype: str = ""


class _JsonHead(Struct):
    vars: list[str] = []


class _JsonBindings(Struct):
    bindings: list[dict[str, _JsonTerm]]


class _JsonDocument(Struct):
    head: _JsonHead = msgspec.field(default_factory=_JsonHead)
    results: _JsonBindings | None = None
    boolean: bool | None = None


_json = msgspec.json.Decoder(_JsonDocument)


def _read_json(body: bytes) -> Results:
    try:
        document = _json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise NotResultsError(f"no whole JSON results: {problem}") from None
    if document.boolean is not None:
        return Results(boolean=document.boolean)
    if document.results is None:
        raise NotResultsError("JSON without results")
    names = tuple(document.head.vars)
    rows = tuple(
        [
            tuple([_json_term(row[name], 0) if name in row else None for name in names])
            for row in document.results.bindings
        ]
    )
    return Results(vars=names, rows=rows)


def _json_term(found: _JsonTerm, depth: int) -> Term:
    if found.type == "triple":
        return _json_triple(found.value, depth)
    if not isinstance(found.value, str):
        raise NotResultsError("a term whose value is no text")
    return term(found.type, found.value, found.language, found.datatype)


def _json_triple(value: Any, depth: int) -> Term:
    if depth >= _DEEPEST_TRIPLE:
        raise NotResultsError("triples quoted too deeply")
    try:
        parts = [msgspec.convert(value[name], _JsonTerm) for name in ("subject", "predicate", "object")]
    except (KeyError, TypeError, msgspec.ValidationError):
        raise NotResultsError("a quoted triple without its three parts") from None
    return Term("triple", "", inner=tuple([_json_term(part, depth + 1) for part in parts]))


# ── CSV and TSV ─────────────────────────────────────────────────────────────────────────────────────────────


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotResultsError("results that are not UTF-8") from None


def _read_csv(body: bytes) -> Results:
    try:
        lines = list(csv.reader(io.StringIO(_text(body), newline=""), strict=True))
    except csv.Error as problem:
        raise NotResultsError(f"no whole CSV results: {problem}") from None
    return _table(lines, lambda cell: Term("bnode", cell[2:]) if cell.startswith("_:") else Term("literal", cell))


def _read_tsv(body: bytes) -> Results:
    text = _text(body)
    lines = [line.split("\t") for line in text.removesuffix("\n").replace("\r\n", "\n").split("\n")]
    lines[0] = [name.strip().removeprefix("?").removeprefix("$") for name in lines[0]]
    return _table(lines, tsv_term)


def _table(lines: list[list[str]], read: Any) -> Results:
    if not lines:
        raise NotResultsError("a table without its line of names")
    names = tuple(lines[0]) if lines[0] != [""] else ()
    rows: list[Row] = []
    for number, cells in enumerate(lines[1:], 2):
        cells = cells or [""]
        if len(cells) != max(len(names), 1):
            raise NotResultsError(f"line {number} has {len(cells)} values for {len(names)} names")
        rows.append(tuple([read(cell) if cell else None for cell in cells[: len(names)]]))
    return Results(vars=names, rows=tuple(rows))


_STRING = r'"""(?P<a>(?:[^"\\]|\\.|"(?!""))*)"""|"(?P<b>(?:[^"\\]|\\.)*)"|\'(?P<c>(?:[^\'\\]|\\.)*)\''
_LITERAL = re.compile(rf"(?:{_STRING})(?:@(?P<language>[A-Za-z0-9-]+)|\^\^<(?P<datatype>[^<>]*)>)?", re.DOTALL)
_NUMBERS = (
    (re.compile(r"[+-]?\d+"), "integer"),
    (re.compile(r"[+-]?\d*\.\d+"), "decimal"),
    (re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+"), "double"),
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def tsv_term(cell: str) -> Term:
    """A term as Turtle writes it, without prefixes."""
    cell = cell.strip()
    if cell.startswith("<<"):
        raise NotResultsError("quoted triples in TSV are not read")
    if cell.startswith("<") and cell.endswith(">"):
        return Term("uri", _unescaped(cell[1:-1]))
    if cell.startswith("_:"):
        return Term("bnode", cell[2:])
    if found := _LITERAL.fullmatch(cell):
        value = next(group for group in found.group("a", "b", "c") if group is not None)
        return term("literal", _unescaped(value), found["language"] or "", found["datatype"] or "")
    if cell in ("true", "false"):
        return Term("literal", cell, datatype=_XSD + "boolean")
    for pattern, name in _NUMBERS:
        if pattern.fullmatch(cell):
            return Term("literal", cell, datatype=_XSD + name)
    raise NotResultsError(f"no term of TSV: {cell[:60]!r}")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    short, long, plain = found.groups()
    if plain is not None:
        return _ESCAPED.get(plain, plain)
    number = int(short or long, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else "\ufffd"
