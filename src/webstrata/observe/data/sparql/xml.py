"""Parses the XML format of SPARQL results as a stream. A document that declares entities is refused."""

from __future__ import annotations

from xml.parsers import expat

from webstrata.observe.data.sparql.results import NotResultsError, Results, Row, Term, term

_NAMESPACE = "http://www.w3.org/2005/sparql-results#"
_MAX_DEPTH = 200
_LANG = "http://www.w3.org/XML/1998/namespace lang"


def parse_xml_results(body: bytes) -> Results:
    """Parse a document. Raises `NotResultsError` if it is not well-formed, incomplete, or not results."""
    handlers = _ResultHandlers()
    try:
        handlers.parser.Parse(body, True)
    except expat.ExpatError as problem:
        raise NotResultsError(f"no whole XML results: {problem}") from None
    if handlers.boolean is None and not handlers.has_results:
        raise NotResultsError("XML without results")
    if handlers.boolean is not None:
        return Results(boolean=handlers.boolean)
    return Results(vars=tuple(handlers.vars), rows=tuple(handlers.rows))


class _ResultHandlers:
    def __init__(self) -> None:
        self.vars: list[str] = []
        self.rows: list[Row] = []
        self.boolean: bool | None = None
        self.has_results = False
        self._names: list[str] = []
        self._attributes: list[dict[str, str]] = []
        self._text: list[str] = []
        self._row: dict[str, Term] = {}
        self._terms: list[list[Term]] = [[]]
        """Complete terms that no binding or triple contains yet, by the depth of quoted triples."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.EntityDeclHandler = self._refuse
        self.parser = parser

    def _refuse(self, *_: object) -> None:
        raise NotResultsError("XML that declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if not self._names and local != "sparql":
            raise NotResultsError(f"XML that starts with {local[:40]!r}, not with SPARQL results")
        if space not in (_NAMESPACE, ""):
            local = ""
        if len(self._names) >= _MAX_DEPTH:
            raise NotResultsError("XML that is nested too deeply")
        self._names.append(local)
        self._attributes.append(attributes)
        self._text.clear()
        if local == "results":
            self.has_results = True
        elif local == "variable" and len(self._names) == 3:
            self.vars.append(attributes.get("name", ""))
        elif local == "result":
            self._row = {}
        elif local == "triple":
            self._terms.append([])

    def _end(self, _: str) -> None:
        local, attributes = self._names.pop(), self._attributes.pop()
        text = "".join(self._text)
        self._text.clear()
        if local in ("uri", "bnode", "literal"):
            self._terms[-1].append(term(local, text, attributes.get(_LANG, ""), attributes.get("datatype", "")))
        elif local == "triple":
            parts = self._terms.pop()
            if len(parts) != 3:
                raise NotResultsError("a quoted triple without three parts")
            self._terms[-1].append(Term("triple", "", inner=tuple(parts)))
        elif local == "binding":
            values, self._terms = self._terms[0], [[]]
            if len(values) != 1:
                raise NotResultsError("a binding without exactly one value")
            self._row[attributes.get("name", "")] = values[0]
        elif local == "result":
            self.rows.append(tuple([self._row.get(name) for name in self.vars]))
        elif local == "boolean":
            self.boolean = {"true": True, "1": True, "false": False, "0": False}.get(text.strip())
