"""Definitions of the terms of a JSON-LD context (JSON-LD API, section 4.2).

The names of errors are those of the recommendation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from webstrata.observe.data.rdf.iri import is_absolute
from webstrata.observe.data.rdf.jsonld_terms import (
    KEYWORDS,
    ActiveContext,
    JsonLdError,
    TermDefinition,
    boolean_of,
    direction_of,
    expand_iri,
    has_keyword_form,
    lower_text,
    names_a_resource,
    text_of,
)

CONTEXT_KEYS = frozenset(
    ("@base", "@direction", "@import", "@language", "@propagate", "@protected", "@version", "@vocab")
)
"""Keys of a context that are not terms."""
_TERM_KEYS = frozenset(
    {
        *("@id", "@reverse", "@container", "@context", "@direction", "@index", "@language", "@nest", "@prefix"),
        *("@protected", "@type"),
    }
)
_CONTAINERS = frozenset(("@graph", "@id", "@index", "@language", "@list", "@set", "@type"))
_IGNORED = "@"
"""The IRI of a term whose value has the form of a keyword: the term is not defined."""


class Definitions:
    """Creates the terms of one local context. `check_scoped` raises if the context of a term is not valid."""

    def __init__(
        self,
        active: ActiveContext,
        local: dict[str, Any],
        base_url: str,
        *,
        protected: bool,
        override_protected: bool,
        check_scoped: Callable[[Any], None],
    ) -> None:
        self._active = active
        self._local = local
        self._base_url = base_url
        self._protected = protected
        self._override_protected = override_protected
        self._check_scoped = check_scoped
        self._done: dict[str, bool] = {}

    def require(self, term: str) -> None:
        """Create a term of the local context, if it has not been created."""
        if term in self._local and term not in CONTEXT_KEYS and not self._done.get(term):
            self.create(term)

    def create(self, term: str) -> None:
        if term in self._done:
            if self._done[term]:
                return
            raise JsonLdError("cyclic IRI mapping")
        if not term:
            raise JsonLdError("invalid term definition")
        self._done[term] = False
        value = self._local[term]
        if term == "@type":
            _check_type_term(value)
        elif term in KEYWORDS:
            raise JsonLdError("keyword redefinition")
        elif has_keyword_form(term):
            return
        previous = self._active.terms.pop(term, None)
        is_simple = isinstance(value, str)
        if value is None or is_simple:
            value = {"@id": value}
        if not isinstance(value, dict):
            raise JsonLdError("invalid term definition")
        made = self._reversed(value) if "@reverse" in value else self._made(term, value, is_simple)
        if made is None:
            return
        if previous is not None and previous.protected and not self._override_protected:
            if replace(made, protected=True) != previous:
                raise JsonLdError("protected term redefinition")
            made = previous
        self._active.terms[term] = made
        self._done[term] = True

    def _is_protected(self, value: dict[str, Any]) -> bool:
        return boolean_of(value.get("@protected", self._protected), "invalid @protected value")

    def _reversed(self, value: dict[str, Any]) -> TermDefinition | None:
        if "@id" in value or "@nest" in value:
            raise JsonLdError("invalid reverse property")
        name = text_of(value["@reverse"], "invalid IRI mapping")
        if has_keyword_form(name):
            return None
        iri = self._expand(name)
        if iri is None or not names_a_resource(iri):
            raise JsonLdError("invalid IRI mapping")
        container = value.get("@container")
        if container not in (None, "@set", "@index"):
            raise JsonLdError("invalid reverse property")
        _check_keys(value)
        return TermDefinition(
            iri=iri,
            reverse=True,
            protected=self._is_protected(value),
            container=frozenset([container] if container else []),
            type=self._type(value),
        )

    def _made(self, term: str, value: dict[str, Any], is_simple: bool) -> TermDefinition | None:
        protected, kind = self._is_protected(value), self._type(value)
        prefix = False
        if "@id" in value and value["@id"] != term:
            iri = self._id(term, value["@id"])
            if iri is _IGNORED:
                return None
            if iri is not None and ":" not in term and "/" not in term and is_simple:
                prefix = iri[-1:] in tuple(":/?#[]@") or iri.startswith("_:")
        else:
            iri = self._own_iri(term)
        container = _container(value["@container"]) if "@container" in value else frozenset()
        if "@type" in container:
            kind = kind or "@id"
            if kind not in ("@id", "@vocab"):
                raise JsonLdError("invalid type mapping")
        made = TermDefinition(iri=iri, prefix=prefix, protected=protected, container=container, type=kind)
        return self._with_options(made, term, value)

    def _with_options(self, made: TermDefinition, term: str, value: dict[str, Any]) -> TermDefinition:
        if "@index" in value:
            index = text_of(value["@index"], "invalid term definition")
            expanded = self._expand(index)
            if "@index" not in made.container or expanded is None or expanded in KEYWORDS or ":" not in expanded:
                raise JsonLdError("invalid term definition")
            made = replace(made, index=index)
        if "@context" in value:
            self._check_scoped(value["@context"])
            made = replace(made, has_context=True, context=value["@context"], base_url=self._base_url)
        if "@language" in value and "@type" not in value:
            language = lower_text(value["@language"], "invalid language mapping")
            made = replace(made, has_language=True, language=language)
        if "@direction" in value and "@type" not in value:
            made = replace(made, has_direction=True, direction=direction_of(value["@direction"]))
        if "@nest" in value:
            nest = text_of(value["@nest"], "invalid @nest value")
            if nest in KEYWORDS and nest != "@nest":
                raise JsonLdError("invalid @nest value")
            made = replace(made, nest=nest)
        if "@prefix" in value:
            if ":" in term or "/" in term:
                raise JsonLdError("invalid term definition")
            made = replace(made, prefix=boolean_of(value["@prefix"], "invalid @prefix value"))
            if made.prefix and made.iri in KEYWORDS:
                raise JsonLdError("invalid term definition")
        _check_keys(value)
        return made

    def _type(self, value: dict[str, Any]) -> str | None:
        if "@type" not in value:
            return None
        kind = self._expand(text_of(value["@type"], "invalid type mapping"))
        if kind in ("@id", "@vocab", "@json", "@none"):
            return kind
        if kind is None or not is_absolute(kind):
            raise JsonLdError("invalid type mapping")
        return kind

    def _id(self, term: str, value: Any) -> str | None:
        if value is None:
            return None
        name = text_of(value, "invalid IRI mapping")
        if name not in KEYWORDS and has_keyword_form(name):
            return _IGNORED
        iri = self._expand(name)
        if iri is None or (iri not in KEYWORDS and not names_a_resource(iri)):
            raise JsonLdError("invalid IRI mapping")
        if iri == "@context":
            raise JsonLdError("invalid keyword alias")
        if ":" in term[1:-1] or "/" in term:
            self._done[term] = True
            if self._expand(term) != iri:
                raise JsonLdError("invalid IRI mapping")
        return iri

    def _own_iri(self, term: str) -> str:
        """The IRI of a term without an `@id` of its own."""
        if ":" in term[1:]:
            prefix, _, suffix = term.partition(":")
            self.require(prefix)
            known = self._active.terms.get(prefix)
            return known.iri + suffix if known is not None and known.iri is not None else term
        if "/" in term:
            iri = expand_iri(self._active, term, vocab=True)
            if iri is None or not is_absolute(iri):
                raise JsonLdError("invalid IRI mapping")
            return iri
        if term == "@type":
            return term
        if self._active.vocab is None:
            raise JsonLdError("invalid IRI mapping")
        return self._active.vocab + term

    def _expand(self, value: str) -> str | None:
        return expand_iri(self._active, value, vocab=True, require=self.require)


def _check_type_term(value: Any) -> None:
    is_valid = isinstance(value, dict) and bool(value) and set(value) <= {"@container", "@protected"}
    if not is_valid or value.get("@container", "@set") not in ("@set", ["@set"]):
        raise JsonLdError("keyword redefinition")


def _container(value: Any) -> frozenset[str]:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name in _CONTAINERS for name in names):
        raise JsonLdError("invalid container mapping")
    container = frozenset(names)
    others = container - {"@set"}
    is_graph = ("@graph" in container and others <= {"@graph", "@id"}) or others <= {"@graph", "@index"}
    if len(others) > 1 and not ("@graph" in container and is_graph):
        raise JsonLdError("invalid container mapping")
    if "@list" in container and len(container) > 1:
        raise JsonLdError("invalid container mapping")
    return container


def _check_keys(value: dict[str, Any]) -> None:
    if not value.keys() <= _TERM_KEYS:
        raise JsonLdError("invalid term definition")
