"""Extracts RDFa 1.1 from HTML as N-Triples lines (RDFa Core 1.1, section 7.5; HTML+RDFa 1.1, section 3.1).

Blank nodes are numbered in document order, so that the same page gives the same lines. XML literals are written as the
HTML inside the element.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from webstrata.observe.data.rdf import quads
from webstrata.observe.data.rdf.rdfa_names import (
    INITIAL_PREFIXES,
    RDF,
    USES_VOCABULARY,
    XSD,
    RdfaPrefixes,
    declared_prefixes,
    valid_iri,
)

MAX_TRIPLES = 200_000
MAX_TEXT = 20_000_000
"""Characters of all literals; a property on each of a thousand nested elements repeats the text a thousand times."""

_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_MARKUP = (RDF + "XMLLiteral", RDF + "HTML")
_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_DATE = r"-?\d{4,}-\d\d-\d\d"
_TIME = r"\d\d:\d\d:\d\d(?:\.\d+)?"
_TIMES = {
    "date": re.compile(_DATE + _ZONE),
    "time": re.compile(_TIME + _ZONE),
    "dateTime": re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
    "duration": re.compile(r"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"),
    "gYearMonth": re.compile(r"-?\d{4,}-\d\d" + _ZONE),
    "gYear": re.compile(r"-?\d{4,}" + _ZONE),
}

Attributes = dict[str, str | None]
Lists = dict[str, list[str]]
"""The members of unfinished lists, by predicate."""


class RdfaTooLargeError(ValueError):
    """The page has more triples or text than the limit."""


class IncompleteTriple(NamedTuple):
    """A triple whose subject or object is not known yet."""

    predicate: str
    forward: bool = True
    members: list[str] | None = None


class RdfaLists(NamedTuple):
    """The lists of one subject, written when the element that started them ends."""

    subject: str
    lists: Lists


class RdfaContext(NamedTuple):
    """What an element inherits from its parent. Subjects and objects are terms in N-Triples syntax."""

    subject: str
    object: str | None
    prefixes: Mapping[str, str]
    vocabulary: str = ""
    language: str = ""
    incomplete: tuple[IncompleteTriple, ...] = ()
    lists: Lists = {}  # noqa: RUF012 - this default is never modified


def rdfa_lines(tree: LexborHTMLParser, url: str) -> list[bytes]:
    """The triples of a page in document order, without duplicates. Raises `RdfaTooLargeError`."""
    reader = _RdfaReader(tree, url)
    reader.read()
    return [line.encode("utf-8", "replace") for line in reader.lines]


class _RdfaReader:
    """Processes the elements of one page and collects the triples."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self._root = tree.root
        href = next((node.attributes.get("href") for node in tree.css("base[href]")), None)
        page_url = url.partition("#")[0]
        self.base = (RdfaPrefixes(page_url, {}, "").address(href or "") or page_url).partition("#")[0]
        self.lines: dict[str, None] = {}
        self._labels: dict[str, str] = {}
        self._count = 0
        self._text = 0

    def read(self) -> None:
        base = valid_iri(self.base)
        if self._root is None or base is None:
            return
        start = RdfaContext(subject=quads.iri(base), object=None, prefixes=INITIAL_PREFIXES)
        pending: list[tuple[LexborNode, RdfaContext] | RdfaLists] = [(self._root, start)]
        is_root = True
        while pending:
            top = pending.pop()
            if isinstance(top, RdfaLists):
                self._write_lists(top)
                continue
            node, inherited = top
            if is_root or node.attributes:  # other elements do not change the context
                element = _RdfaElement(self, node, inherited, is_root=is_root)
                inherited = element.process()
                pending += element.open_lists
            pending += [(child, inherited) for child in reversed(list(node.iter()))]
            is_root = False

    def triple(self, subject: str | None, predicate: str, value: str | None) -> None:
        if subject is None or value is None or predicate.startswith("_:"):
            return
        self.lines[f"{subject} {quads.iri(predicate)} {value} ."] = None
        if len(self.lines) > MAX_TRIPLES:
            raise RdfaTooLargeError(f"more than {MAX_TRIPLES} triples")

    def blank(self, label: str | None = None) -> str:
        """A new blank node, or the blank node with this label."""
        if label is not None and label in self._labels:
            return self._labels[label]
        self._count += 1
        term = f"_:r{self._count}"
        if label is not None:
            self._labels[label] = term
        return term

    def term(self, name: str | None) -> str | None:
        """The term for an IRI or a blank node label of the page."""
        if name is None:
            return None
        return self.blank(name) if name.startswith("_:") else quads.iri(name)

    def literal(self, text: str, language: str = "", datatype: str = "") -> str:
        self._text += len(text)
        if self._text > MAX_TEXT:
            raise RdfaTooLargeError(f"more than {MAX_TEXT} characters of literals")
        return quads.literal(text, language if not datatype else "", datatype)

    def _write_lists(self, open_lists: RdfaLists) -> None:
        for predicate, members in open_lists.lists.items():
            rest = quads.iri(RDF + "nil")
            for member in reversed(members):
                node = self.blank()
                self.triple(node, RDF + "first", member)
                self.triple(node, RDF + "rest", rest)
                rest = node
            self.triple(open_lists.subject, predicate, rest)


class _RdfaElement:
    """One element; the numbers in comments are the steps of the standard."""

    def __init__(self, page: _RdfaReader, node: LexborNode, inherited: RdfaContext, *, is_root: bool) -> None:
        self._page = page
        self._node = node
        self._inherited = inherited
        self._is_root = is_root
        self._attributes: Attributes = node.attributes
        self._prefixes, self._vocabulary, self._language = self._declarations()
        self._names = RdfaPrefixes(page.base, self._prefixes, self._vocabulary)
        self._rel, self._rev = self._relations()
        self._subject: str | None = None
        self._object: str | None = None
        self._typed: str | None = None
        self._skipped = False
        self._lists = inherited.lists
        self._incomplete: list[IncompleteTriple] = []
        self.open_lists: list[RdfaLists] = []
        """Lists that are complete after the children are processed."""

    def process(self) -> RdfaContext:
        """The context of the children."""
        if self._rel is None and self._rev is None:
            self._set_subject()  # 5
        else:
            self._set_subject_and_object()  # 6
        for kind in self._names.predicates(self._value("typeof")) if self._typed is not None else ():  # 7
            self._page.triple(self._typed, RDF + "type", self._page.term(kind))
        if self._subject is not None and self._subject != self._inherited.object:  # 8
            self._lists = self._lists_of(self._subject)
        self._write_relations()  # 9, 10
        self._write_properties()  # 11
        self._complete_triples()  # 12
        return self._child_context()  # 13, 14

    def _lists_of(self, subject: str) -> Lists:
        lists: Lists = {}
        self.open_lists.append(RdfaLists(subject, lists))
        return lists

    # ── 2, 3, 4: declarations ──

    def _declarations(self) -> tuple[Mapping[str, str], str, str]:
        given = self._inherited
        if not self._attributes:
            return given.prefixes, given.vocabulary, given.language
        new = {name[6:].lower(): value or "" for name, value in self._attributes.items() if name[:6] == "xmlns:"}
        new.update(declared_prefixes(self._value("prefix")))
        vocabulary = given.vocabulary
        if "vocab" in self._attributes:
            value = self._value("vocab")
            vocabulary = (RdfaPrefixes(self._page.base, {}, "").address(value) if value else None) or ""
            if vocabulary:
                self._page.triple(quads.iri(self._page.base), USES_VOCABULARY, quads.iri(vocabulary))
        language = given.language
        for name in ("lang", "xml:lang"):
            if name in self._attributes:
                language = self._value(name) if _LANGUAGE.fullmatch(self._value(name)) else ""
        return {**given.prefixes, **new} if new else given.prefixes, vocabulary, language

    def _relations(self) -> tuple[list[str] | None, list[str] | None]:
        """The predicates of `rel` and `rev`. Beside `property`, words without a colon (`nofollow`) are ignored."""
        relations: list[list[str] | None] = []
        for name in ("rel", "rev"):
            value = self._attributes.get(name)
            if name in self._attributes and "property" in self._attributes:
                value = " ".join(word for word in (value or "").split() if ":" in word) or None
            relations.append(None if value is None else self._names.predicates(value))
        return relations[0], relations[1]

    # ── 5, 6: subject and object ──

    def _set_subject(self) -> None:
        has_literal = (
            "property" in self._attributes and "content" not in self._attributes and "datatype" not in self._attributes
        )
        if has_literal:
            self._subject = self._about() or self._default()
            if "typeof" in self._attributes:
                self._typed = self._about() or (self._default() if self._is_root else None) or self._target()
                self._typed = self._object = self._typed or self._page.blank()
            return
        self._subject = self._about() or self._target()
        if self._subject is None and (self._is_root or self._node.tag in ("head", "body")):
            self._subject = self._default()
        if self._subject is None and "typeof" in self._attributes:
            self._subject = self._page.blank()
        if self._subject is None:
            self._subject = self._default()
            self._skipped = "property" not in self._attributes
        if "typeof" in self._attributes:
            self._typed = self._subject

    def _set_subject_and_object(self) -> None:
        self._subject = self._about()
        if "typeof" in self._attributes:
            self._typed = self._subject
        self._subject = self._subject or self._default()
        self._object = self._target()
        if "typeof" in self._attributes and self._typed is None:
            self._object = self._typed = self._object or self._page.blank()

    def _about(self) -> str | None:
        return self._page.term(self._names.resource(self._value("about"))) if "about" in self._attributes else None

    def _target(self) -> str | None:
        """The resource in `resource`, `href` or `src`."""
        if "resource" in self._attributes:
            name = self._names.resource(self._value("resource"))
            if name is not None:
                return self._page.term(name)
        for name in ("href", "src"):
            if name in self._attributes:
                return self._page.term(self._names.address(self._value(name)))
        return None

    def _default(self) -> str | None:
        return quads.iri(self._page.base) if self._is_root else self._inherited.object

    # ── 9, 10: relations ──

    def _write_relations(self) -> None:
        in_list = "inlist" in self._attributes
        for predicate in self._rel or ():
            members = self._lists.setdefault(predicate, []) if in_list else None
            if self._object is None:
                self._incomplete.append(IncompleteTriple(predicate, members=members))
            elif members is not None:
                members.append(self._object)
            else:
                self._page.triple(self._subject, predicate, self._object)
        for predicate in self._rev or ():
            if self._object is None:
                self._incomplete.append(IncompleteTriple(predicate, forward=False))
            else:
                self._page.triple(self._object, predicate, self._subject)
        if self._object is None and self._incomplete:
            self._object = self._page.blank()

    # ── 11: properties ──

    def _write_properties(self) -> None:
        predicates = self._names.predicates(self._value("property"))
        if not predicates:
            return
        value = self._property_value()
        for predicate in predicates:
            if "inlist" in self._attributes:
                self._lists.setdefault(predicate, []).append(value)
            else:
                self._page.triple(self._subject, predicate, value)

    def _property_value(self) -> str:
        """The value of the element's property."""
        text = self._attributes.get("content")
        time = self._attributes.get("datetime") if text is None else None
        if text is None and time is None and self._node.tag == "time":
            time = self._node.text()
        if "datatype" in self._attributes:
            datatype = self._names.term(self._value("datatype")) or ""
            inside = self._node.inner_html if datatype in _MARKUP else None
            value = next((each for each in (text, time, inside) if each is not None), None)
            return self._page.literal(self._node.text() if value is None else value, self._language, datatype)
        if text is not None:
            return self._page.literal(text, self._language)
        if time is not None:
            kind = next((name for name, form in _TIMES.items() if form.fullmatch(time)), None)
            return self._page.literal(time, self._language, XSD + kind if kind else "")
        if self._rel is None and self._rev is None and (target := self._target()) is not None:
            return target
        if self._typed is not None and "about" not in self._attributes:
            return self._typed
        return self._page.literal(self._node.text(), self._language)

    # ── 12, 13: incomplete triples, and the context of the children ──

    def _complete_triples(self) -> None:
        if self._skipped or self._subject is None:
            return
        for incomplete in self._inherited.incomplete:
            if incomplete.members is not None:
                incomplete.members.append(self._subject)
            elif incomplete.forward:
                self._page.triple(self._inherited.subject, incomplete.predicate, self._subject)
            else:
                self._page.triple(self._subject, incomplete.predicate, self._inherited.subject)

    def _child_context(self) -> RdfaContext:
        context = self._inherited
        if not self._skipped:
            subject = self._subject or context.subject
            lists = self._lists
            if self._object is not None and self._object != self._subject:
                lists = self._lists_of(self._object)  # lists of the children belong to the object
            context = context._replace(
                subject=subject, object=self._object or subject, incomplete=tuple(self._incomplete), lists=lists
            )
        return context._replace(prefixes=self._prefixes, vocabulary=self._vocabulary, language=self._language)

    def _value(self, name: str) -> str:
        return self._attributes.get(name) or ""
