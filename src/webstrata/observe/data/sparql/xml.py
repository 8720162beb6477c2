"""The XML format of SPARQL results, read as a stream. Declared entities are refused: nothing of such a file counts."""

from __future__ import annotations

from xml.parsers import expat

from webstrata.observe.data.sparql.results import NotResultsError, Results, Row, Term, term

_SPACE = "http://www.w3.org/2005/sparql-results#"
_MOST_DEPTH = 200
_LANG = "http://www.w3.org/XML/1998/namespace lang"


def read_xml(body: bytes) -> Results:
    """Raises NotResults for what is not well-formed, not results, or not whole."""
    reader = _SparqlXmlReader()
    try:
        reader.parser.Parse(body, True)
    except expat.ExpatError as problem:
        raise NotResultsError(f"no whole XML results: {problem}") from None
    if reader.boolean is None and not reader.has_results:
        raise NotResultsError("XML without results")
    if reader.boolean is not None:
        return Results(boolean=reader.boolean)
    return Results(vars=tuple(reader.vars), rows=tuple(reader.rows))


class _SparqlXmlReader:
    def __init__(self) -> None:
        self.vars: list[str] = []
        self.rows: list[Row] = []
        self.boolean: bool | None = None
        self.has_results = False
        self._names: list[str] = []
        self._attributes: list[dict[str, str]] = []
        self._text: list[str] = []
        self._row: dict[str, Term] = {}
        self._done: list[list[Term]] = [[]]
        """Terms finished and not taken up yet, by the depth of quoted triples."""
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
        if space not in (_SPACE, ""):
            local = ""
        if len(self._names) >= _MOST_DEPTH:
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
            self._done.append([])

    def _end(self, _: str) -> None:
        local, attributes = self._names.pop(), self._attributes.pop()
        text = "".join(self._text)
        self._text.clear()
        if local in ("uri", "bnode", "literal"):
            self._done[-1].append(term(local, text, attributes.get(_LANG, ""), attributes.get("datatype", "")))
        elif local == "triple":
            parts = self._done.pop()
            if len(parts) != 3:
                raise NotResultsError("a quoted triple without its three parts")
            self._done[-1].append(Term("triple", "", inner=tuple(parts)))
        elif local == "binding":
            found, self._done = self._done[0], [[]]
            if len(found) != 1:
                raise NotResultsError("a binding without its one value")
            self._row[attributes.get("name", "")] = found[0]
        elif local == "result":
            self.rows.append(tuple([self._row.get(name) for name in self.vars]))
        elif local == "boolean":
            self.boolean = {"true": True, "1": True, "false": False, "0": False}.get(text.strip())
