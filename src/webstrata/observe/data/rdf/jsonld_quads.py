"""The RDF dataset of expanded JSON-LD, as N-Quads lines (JSON-LD API, section 7 and 8).

As the recommendation says, triples with relative or malformed IRIs are left out, and so are blank nodes as predicates.
The direction of a text is kept in its literal, as in RDF 1.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from webstrata.observe.data.rdf.iri import is_well_formed
from webstrata.observe.data.rdf.jsonld_terms import JsonLdError

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TYPE, _FIRST, _REST, _NIL = f"<{_RDF}type>", f"<{_RDF}first>", f"<{_RDF}rest>", f"<{_RDF}nil>"
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")
_ESCAPED = re.compile(r'["\\\n\r\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_INTEGER_LIMIT = 10**21


class QuadWriter:
    """Collects the quads of expanded nodes."""

    def __init__(self, max_quads: int) -> None:
        self._max_quads = max_quads
        self._lines: dict[str, None] = {}
        self._labels: dict[str, str] = {}
        self._blanks = 0
        self._indexes: dict[tuple[str, str], str] = {}

    def lines(self, expanded: list[Any]) -> list[str]:
        """The lines of an expanded document, each once, in document order."""
        for item in expanded:
            self._object(item, "")
        return list(self._lines)

    def _object(self, item: dict[str, Any], graph: str, is_used: bool = True) -> str | None:
        """The RDF term for an item; None if RDF has none. Nodes write their quads.

        An item that is not used belongs to a triple that is left out: its nodes are written, its lists are not.
        """
        if "@value" in item:
            return _literal(item)
        if "@list" in item:
            return self._list(item["@list"], graph, is_used)
        return self._node(item, graph)

    def _node(self, node: dict[str, Any], graph: str) -> str | None:
        subject = self._resource(node["@id"]) if "@id" in node else self._blank()
        if subject is not None and "@index" in node:
            self._check_index(subject, graph, node["@index"])
        for key, items in node.items():
            if key == "@type":
                for kind in items:
                    self._write(subject, _TYPE, self._resource(kind), graph)
            elif key == "@reverse":
                for name, sources in items.items():
                    for source in sources:
                        self._write(self._node(source, graph), self._predicate(name), subject, graph)
            elif key == "@graph":
                for item in items:
                    self._object(item, subject if subject is not None else _NO_GRAPH)
            elif key == "@included":
                for item in items:
                    self._node(item, graph)
            elif not key.startswith("@"):
                predicate = self._predicate(key)
                is_used = subject is not None and predicate is not None
                for item in items:
                    self._write(subject, predicate, self._object(item, graph, is_used), graph)
        return subject

    def _list(self, items: list[Any], graph: str, is_used: bool) -> str:
        """An RDF list. An item that RDF has no term for leaves its place without a value."""
        if not is_used:
            for item in items:
                self._object(item, graph, is_used=False)
        if not items or not is_used:
            return _NIL
        places = [self._blank() for _ in items]
        for item, place, following in zip(items, places, [*places[1:], _NIL], strict=True):
            self._write(place, _FIRST, self._object(item, graph), graph)
            self._write(place, _REST, following, graph)
        return places[0]

    def _write(self, subject: str | None, predicate: str | None, value: str | None, graph: str) -> None:
        if subject is None or predicate is None or value is None or graph == _NO_GRAPH:
            return
        name = f" {graph}" if graph else ""
        self._lines[f"{subject} {predicate} {value}{name} ."] = None
        if len(self._lines) > self._max_quads:
            raise JsonLdError(f"more than {self._max_quads} triples")

    def _resource(self, iri: str | None) -> str | None:
        if iri is None:
            return None
        if iri.startswith("_:"):
            if iri not in self._labels:
                self._labels[iri] = self._blank()
            return self._labels[iri]
        return f"<{iri}>" if is_well_formed(iri) else None

    def _predicate(self, iri: str) -> str | None:
        return None if iri.startswith("_:") else self._resource(iri)

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:b{self._blanks - 1}"

    def _check_index(self, subject: str, graph: str, index: str) -> None:
        if self._indexes.setdefault((graph, subject), index) != index:
            raise JsonLdError("conflicting indexes")


_NO_GRAPH = "-"
"""The name of a graph that RDF cannot name: its quads are left out."""


def _literal(item: dict[str, Any]) -> str | None:
    value, kind = item["@value"], item.get("@type")
    if kind == "@json":
        return f"{_quoted(_canonical_json(value))}^^<{_RDF}JSON>"
    if kind is not None and not is_well_formed(kind):
        return None
    language = item.get("@language")
    if isinstance(value, bool):
        value, native = "true" if value else "false", f"{_XSD}boolean"
    elif isinstance(value, int | float):
        value, native = _number(value, kind)
    else:
        native = f"{_XSD}string"
    if language is not None:
        direction = f"--{item['@direction']}" if "@direction" in item else ""
        return f"{_quoted(value)}@{language}{direction}" if _LANGUAGE.fullmatch(language) else None
    datatype = kind or native
    return _quoted(value) if datatype == f"{_XSD}string" else f"{_quoted(value)}^^<{datatype}>"


def _number(value: float, kind: str | None) -> tuple[str, str]:
    """(lexical form, datatype if none is given) of a number."""
    is_whole = isinstance(value, int) or value.is_integer()
    if is_whole and abs(value) < _INTEGER_LIMIT and kind != f"{_XSD}double":
        return str(int(value)), f"{_XSD}integer"
    try:
        mantissa, _, exponent = f"{float(value):.15E}".partition("E")
    except OverflowError:
        raise JsonLdError("a number beyond the range of xsd:double") from None
    mantissa = mantissa.rstrip("0")
    return f"{mantissa}{'0' if mantissa.endswith('.') else ''}E{int(exponent)}", f"{_XSD}double"


def _quoted(text: str) -> str:
    escaped = _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}", text)
    return f'"{escaped}"'


def _canonical_json(value: Any) -> str:
    """RFC 8785 (JCS)."""
    return "".join(_json_parts(value))


def _json_parts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, key in enumerate(sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))):
            yield f"{',' if number else ''}{json.dumps(key, ensure_ascii=False)}:"
            yield from _json_parts(value[key])
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield "," if number else ""
            yield from _json_parts(item)
        yield "]"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _json_number(value)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _json_number(value: float) -> str:
    """A number as ECMAScript writes it: the shortest digits that read back as the same double."""
    try:
        number = float(value)
    except OverflowError:
        raise JsonLdError("a number beyond the range of JSON literals") from None
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent_text = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent_text or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    exponent = point - 1
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
