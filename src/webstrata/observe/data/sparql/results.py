"""Parses SPARQL query results in JSON, XML, CSV and TSV into one form.

The structure must be valid (a truncated document or an error page is refused). Redundant datatypes are dropped and
language tags are in lower case, so that results are equal whichever server wrote them. CSV does not distinguish IRIs
from literals; all its values are literals.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

JSON = "application/sparql-results+json"
XML = "application/sparql-results+xml"
CSV = "text/csv"
TSV = "text/tab-separated-values"

_XSD = "http://www.w3.org/2001/XMLSchema#"
_REDUNDANT_DATATYPES = frozenset({_XSD + "string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"})
_MAX_TRIPLE_DEPTH = 50
_FORMATS = {JSON: "json", "application/json": "json", XML: "xml", "application/xml": "xml", "text/xml": "xml"}
_FORMATS |= {CSV: "csv", TSV: "tsv"}


class NotResultsError(ValueError):
    """The document is not complete SPARQL results; the message is the reason."""


class Term(NamedTuple):
    """An RDF term. `inner` contains subject, predicate and object of a quoted triple."""

    kind: Literal["uri", "bnode", "literal", "triple"]
    value: str
    language: str = ""
    datatype: str = ""
    inner: tuple[Term, ...] = ()


Row = tuple[Term | None, ...]


class Results(Struct, frozen=True, kw_only=True):
    """The rows of a SELECT query, or the boolean of an ASK query."""

    vars: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    """Values in the order of `vars`; None if a variable is not bound."""
    boolean: bool | None = None


def parse_results(body: bytes, media_type: str) -> Results:
    """Parse a document of results. Raises `NotResultsError`."""
    form = _FORMATS.get(media_type.strip().lower())
    if form == "json":
        return _parse_json(body)
    if form == "xml":
        from webstrata.observe.data.sparql.xml import parse_xml_results

        return parse_xml_results(body)
    if form == "csv":
        return _parse_csv(body)
    if form == "tsv":
        return _parse_tsv(body)
    raise NotResultsError(f"{media_type or 'a response without a media type'} is no format of SPARQL results")


def term(kind: str, value: str, language: str = "", datatype: str = "") -> Term:
    """A normalised term. Raises `NotResultsError` for an unknown kind."""
    if kind == "uri":
        return Term("uri", value)
    if kind == "bnode":
        return Term("bnode", value)
    if kind in ("literal", "typed-literal"):
        is_redundant = bool(language) or datatype in _REDUNDANT_DATATYPES
        return Term("literal", value, language.lower(), "" if is_redundant else datatype)
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


def _parse_json(body: bytes) -> Results:
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


def _json_term(encoded: _JsonTerm, depth: int) -> Term:
    if encoded.type == "triple":
        return _json_triple(encoded.value, depth)
    if not isinstance(encoded.value, str):
        raise NotResultsError("a term whose value is no text")
    return term(encoded.type, encoded.value, encoded.language, encoded.datatype)


def _json_triple(value: Any, depth: int) -> Term:
    if depth >= _MAX_TRIPLE_DEPTH:
        raise NotResultsError("triples quoted too deeply")
    try:
        parts = [msgspec.convert(value[name], _JsonTerm) for name in ("subject", "predicate", "object")]
    except (KeyError, TypeError, msgspec.ValidationError):
        raise NotResultsError("a quoted triple without three parts") from None
    return Term("triple", "", inner=tuple([_json_term(part, depth + 1) for part in parts]))


# ── CSV and TSV ─────────────────────────────────────────────────────────────────────────────────────────────


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotResultsError("results that are not UTF-8") from None


def _parse_csv(body: bytes) -> Results:
    try:
        lines = list(csv.reader(io.StringIO(_text(body), newline=""), strict=True))
    except csv.Error as problem:
        raise NotResultsError(f"no whole CSV results: {problem}") from None
    return _table(lines, lambda cell: Term("bnode", cell[2:]) if cell.startswith("_:") else Term("literal", cell))


def _parse_tsv(body: bytes) -> Results:
    text = _text(body)
    lines = [line.split("\t") for line in text.removesuffix("\n").replace("\r\n", "\n").split("\n")]
    lines[0] = [name.strip().removeprefix("?").removeprefix("$") for name in lines[0]]
    return _table(lines, tsv_term)


def _table(lines: list[list[str]], parse_cell: Callable[[str], Term]) -> Results:
    if not lines:
        raise NotResultsError("a table without a header line")
    names = tuple(lines[0]) if lines[0] != [""] else ()
    rows: list[Row] = []
    for number, cells in enumerate(lines[1:], 2):
        cells = cells or [""]
        if len(cells) != max(len(names), 1):
            raise NotResultsError(f"line {number} has {len(cells)} values for {len(names)} names")
        rows.append(tuple([parse_cell(cell) if cell else None for cell in cells[: len(names)]]))
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
    """Parse a term in Turtle syntax without prefixes."""
    cell = cell.strip()
    if cell.startswith("<<"):
        raise NotResultsError("quoted triples in TSV are not supported")
    if cell.startswith("<") and cell.endswith(">"):
        return Term("uri", _unescaped(cell[1:-1]))
    if cell.startswith("_:"):
        return Term("bnode", cell[2:])
    if match := _LITERAL.fullmatch(cell):
        value = next(group for group in match.group("a", "b", "c") if group is not None)
        return term("literal", _unescaped(value), match["language"] or "", match["datatype"] or "")
    if cell in ("true", "false"):
        return Term("literal", cell, datatype=_XSD + "boolean")
    for pattern, name in _NUMBERS:
        if pattern.fullmatch(cell):
            return Term("literal", cell, datatype=_XSD + name)
    raise NotResultsError(f"no term of TSV: {cell[:60]!r}")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    short, long, plain = match.groups()
    if plain is not None:
        return _ESCAPED.get(plain, plain)
    number = int(short or long, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else "\ufffd"
