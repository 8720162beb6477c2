"""RDFa 1.1 in HTML -> lines of N-Triples, by the steps of RDFa Core 1.1 (7.5) and the changes of HTML+RDFa 1.1 (3.1).

Blank nodes are numbered in the order of the document, so that the same page gives the same lines. XML literals are
written as the HTML inside the element.
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
"""Characters of all literals: a property on each of a thousand nested elements repeats the text a thousand times."""

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
"""Predicate -> terms of a list that is being gathered."""


class RdfaTooLargeError(ValueError):
    """More than a page may say."""


class IncompleteTriple(NamedTuple):
    """A statement that waits for its other end."""

    predicate: str
    forward: bool = True
    members: list[str] | None = None


class RdfaLists(NamedTuple):
    """Lists of one subject, to be written when the element that began them ends."""

    subject: str
    lists: Lists


class RdfaContext(NamedTuple):
    """What an element inherits. Subjects and objects are terms as they are written."""

    subject: str
    object: str | None
    prefixes: Mapping[str, str]
    vocabulary: str = ""
    language: str = ""
    waiting: tuple[IncompleteTriple, ...] = ()
    lists: Lists = {}  # noqa: RUF012 - never the one that is filled


def rdfa_lines(tree: LexborHTMLParser, url: str) -> list[bytes]:
    """The triples of a page, each once, as they come. Raises TooMuchError."""
    reader = _RdfaReader(tree, url)
    reader.read()
    return [line.encode("utf-8", "replace") for line in reader.lines]


class _RdfaReader:
    """One page."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        self._root = tree.root
        found = next((node.attributes.get("href") for node in tree.css("base[href]")), None)
        whole = url.partition("#")[0]
        self.base = (RdfaPrefixes(whole, {}, "").address(found or "") or whole).partition("#")[0]
        self.lines: dict[str, None] = {}
        self._labels: dict[str, str] = {}
        self._count = 0
        self._text = 0

    def read(self) -> None:
        base = valid_iri(self.base)
        if self._root is None or base is None:
            return
        start = RdfaContext(subject=quads.iri(base), object=None, prefixes=INITIAL_PREFIXES)
        waiting: list[tuple[LexborNode, RdfaContext] | RdfaLists] = [(self._root, start)]
        is_root = True
        while waiting:
            top = waiting.pop()
            if isinstance(top, RdfaLists):
                self._write_lists(top)
                continue
            node, inherited = top
            if is_root or node.attributes:  # others pass on what they inherit
                element = _RdfaElement(self, node, inherited, is_root=is_root)
                inherited = element.process()
                waiting += element.gathered
            waiting += [(child, inherited) for child in reversed(list(node.iter()))]
            is_root = False

    def triple(self, subject: str | None, predicate: str, value: str | None) -> None:
        if subject is None or value is None or predicate.startswith("_:"):
            return
        self.lines[f"{subject} {quads.iri(predicate)} {value} ."] = None
        if len(self.lines) > MAX_TRIPLES:
            raise RdfaTooLargeError(f"more than {MAX_TRIPLES} triples")

    def blank(self, label: str | None = None) -> str:
        """A new blank node, or the one that the page calls by a label."""
        if label is not None and label in self._labels:
            return self._labels[label]
        self._count += 1
        made = f"_:r{self._count}"
        if label is not None:
            self._labels[label] = made
        return made

    def term(self, name: str | None) -> str | None:
        """A name as a term; blank nodes are numbered anew."""
        if name is None:
            return None
        return self.blank(name) if name.startswith("_:") else quads.iri(name)

    def names(self, prefixes: Mapping[str, str], vocabulary: str) -> RdfaPrefixes:
        return RdfaPrefixes(self.base, prefixes, vocabulary)

    def literal(self, text: str, language: str = "", datatype: str = "") -> str:
        self._text += len(text)
        if self._text > MAX_TEXT:
            raise RdfaTooLargeError(f"more than {MAX_TEXT} characters of literals")
        return quads.literal(text, language if not datatype else "", datatype)

    def _write_lists(self, gathered: RdfaLists) -> None:
        for predicate, members in gathered.lists.items():
            rest = quads.iri(RDF + "nil")
            for member in reversed(members):
                node = self.blank()
                self.triple(node, RDF + "first", member)
                self.triple(node, RDF + "rest", rest)
                rest = node
            self.triple(gathered.subject, predicate, rest)


class _RdfaElement:
    """One element; `process` follows the numbered steps of the standard."""

    def __init__(self, page: _RdfaReader, node: LexborNode, inherited: RdfaContext, *, is_root: bool) -> None:
        self._page = page
        self._node = node
        self._inherited = inherited
        self._is_root = is_root
        self._has: Attributes = node.attributes
        self._prefixes, self._vocabulary, self._language = self._declarations()
        self._names = page.names(self._prefixes, self._vocabulary)
        self._rel, self._rev = self._relations()
        self._subject: str | None = None
        self._object: str | None = None
        self._typed: str | None = None
        self._skipped = False
        self._lists = inherited.lists
        self._waiting: list[IncompleteTriple] = []
        self.gathered: list[RdfaLists] = []
        """Complete when the children are done."""

    def process(self) -> RdfaContext:
        """The context of the children."""
        if self._rel is None and self._rev is None:
            self._place()  # 5
        else:
            self._place_related()  # 6
        for kind in self._names.predicates(self._value("typeof")) if self._typed is not None else ():  # 7
            self._page.triple(self._typed, RDF + "type", self._page.term(kind))
        if self._subject is not None and self._subject != self._inherited.object:  # 8
            self._lists = self._lists_of(self._subject)
        self._relate()  # 9, 10
        self._state()  # 11
        self._complete()  # 12
        return self._passed_on()  # 13, 14

    def _lists_of(self, subject: str) -> Lists:
        lists: Lists = {}
        self.gathered.append(RdfaLists(subject, lists))
        return lists

    # ── 2, 3, 4: what is declared here ──

    def _declarations(self) -> tuple[Mapping[str, str], str, str]:
        given = self._inherited
        if not self._has:
            return given.prefixes, given.vocabulary, given.language
        new = {name[6:].lower(): value or "" for name, value in self._has.items() if name[:6] == "xmlns:"}
        new.update(declared_prefixes(self._value("prefix")))
        vocabulary = given.vocabulary
        if "vocab" in self._has:
            vocabulary = (
                (RdfaPrefixes(self._page.base, {}, "").address(self._value("vocab")) or "")
                if self._has["vocab"]
                else ""
            )
            if vocabulary:
                self._page.triple(quads.iri(self._page.base), USES_VOCABULARY, quads.iri(vocabulary))
        language = given.language
        for name in ("lang", "xml:lang"):
            if name in self._has:
                language = self._value(name) if _LANGUAGE.fullmatch(self._value(name)) else ""
        return {**given.prefixes, **new} if new else given.prefixes, vocabulary, language

    def _relations(self) -> tuple[list[str] | None, list[str] | None]:
        """`rel` and `rev`. Beside `property`, plain words (`nofollow`) are no RDFa and do not count as being there."""
        found: list[list[str] | None] = []
        for name in ("rel", "rev"):
            value = self._has.get(name)
            if name in self._has and "property" in self._has:
                value = " ".join(word for word in (value or "").split() if ":" in word) or None
            found.append(None if value is None else self._names.predicates(value))
        return found[0], found[1]

    # ── 5, 6: what the element is about ──

    def _place(self) -> None:
        said = "property" in self._has and "content" not in self._has and "datatype" not in self._has
        if said:
            self._subject = self._about() or self._default()
            if "typeof" in self._has:
                self._typed = self._about() or (self._default() if self._is_root else None) or self._target()
                self._typed = self._object = self._typed or self._page.blank()
            return
        self._subject = self._about() or self._target()
        if self._subject is None and (self._is_root or self._node.tag in ("head", "body")):
            self._subject = self._default()
        if self._subject is None and "typeof" in self._has:
            self._subject = self._page.blank()
        if self._subject is None:
            self._subject = self._default()
            self._skipped = "property" not in self._has
        if "typeof" in self._has:
            self._typed = self._subject

    def _place_related(self) -> None:
        self._subject = self._about()
        if "typeof" in self._has:
            self._typed = self._subject
        self._subject = self._subject or self._default()
        self._object = self._target()
        if "typeof" in self._has and self._typed is None:
            self._object = self._typed = self._object or self._page.blank()

    def _about(self) -> str | None:
        return self._page.term(self._names.resource(self._value("about"))) if "about" in self._has else None

    def _target(self) -> str | None:
        """The resource that the element leads to."""
        if "resource" in self._has:
            found = self._names.resource(self._value("resource"))
            if found is not None:
                return self._page.term(found)
        for name in ("href", "src"):
            if name in self._has:
                return self._page.term(self._names.address(self._value(name)))
        return None

    def _default(self) -> str | None:
        return quads.iri(self._page.base) if self._is_root else self._inherited.object

    # ── 9, 10: relations ──

    def _relate(self) -> None:
        in_list = "inlist" in self._has
        for predicate in self._rel or ():
            members = self._lists.setdefault(predicate, []) if in_list else None
            if self._object is None:
                self._waiting.append(IncompleteTriple(predicate, members=members))
            elif members is not None:
                members.append(self._object)
            else:
                self._page.triple(self._subject, predicate, self._object)
        for predicate in self._rev or ():
            if self._object is None:
                self._waiting.append(IncompleteTriple(predicate, forward=False))
            else:
                self._page.triple(self._object, predicate, self._subject)
        if self._object is None and self._waiting:
            self._object = self._page.blank()

    # ── 11: properties ──

    def _state(self) -> None:
        predicates = self._names.predicates(self._value("property"))
        if not predicates:
            return
        value = self._stated()
        for predicate in predicates:
            if "inlist" in self._has:
                self._lists.setdefault(predicate, []).append(value)
            else:
                self._page.triple(self._subject, predicate, value)

    def _stated(self) -> str:
        """The value of the element's property."""
        text = self._has.get("content")
        time = self._has.get("datetime") if text is None else None
        if text is None and time is None and self._node.tag == "time":
            time = self._node.text()
        if "datatype" in self._has:
            datatype = self._names.term(self._value("datatype")) or ""
            inside = self._node.inner_html if datatype in _MARKUP else None
            whole = next((one for one in (text, time, inside) if one is not None), None)
            return self._page.literal(self._node.text() if whole is None else whole, self._language, datatype)
        if text is not None:
            return self._page.literal(text, self._language)
        if time is not None:
            kind = next((name for name, form in _TIMES.items() if form.fullmatch(time)), None)
            return self._page.literal(time, self._language, XSD + kind if kind else "")
        if self._rel is None and self._rev is None and (target := self._target()) is not None:
            return target
        if self._typed is not None and "about" not in self._has:
            return self._typed
        return self._page.literal(self._node.text(), self._language)

    # ── 12, 13: what waited, and what the children get ──

    def _complete(self) -> None:
        if self._skipped or self._subject is None:
            return
        for one in self._inherited.waiting:
            if one.members is not None:
                one.members.append(self._subject)
            elif one.forward:
                self._page.triple(self._inherited.subject, one.predicate, self._subject)
            else:
                self._page.triple(self._subject, one.predicate, self._inherited.subject)

    def _passed_on(self) -> RdfaContext:
        same = self._inherited
        if not self._skipped:
            subject = self._subject or same.subject
            lists = self._lists
            if self._object is not None and self._object != self._subject:
                lists = self._lists_of(self._object)  # what the children gather is said of the object
            same = same._replace(
                subject=subject, object=self._object or subject, waiting=tuple(self._waiting), lists=lists
            )
        return same._replace(prefixes=self._prefixes, vocabulary=self._vocabulary, language=self._language)

    def _value(self, name: str) -> str:
        return self._has.get(name) or ""
