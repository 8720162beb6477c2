"""Terms of JSON-LD 1.1: definitions, active contexts, and the expansion of IRIs (JSON-LD API, section 5.2).

The names of errors are those of the recommendation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from webstrata.observe.data.rdf.iri import is_absolute, resolve

KEYWORDS = frozenset(
    {
        *("@base", "@container", "@context", "@default", "@direction", "@graph", "@id", "@import", "@included"),
        *("@index", "@json", "@language", "@list", "@nest", "@none", "@prefix", "@propagate", "@protected"),
        *("@reverse", "@set", "@type", "@value", "@version", "@vocab"),
    }
)
_KEYWORD_FORM = re.compile(r"@[A-Za-z]+")
_MAX_REMEMBERED = 1_000


class JsonLdError(ValueError):
    """The document is not valid JSON-LD, or exceeds a limit; the message is the error code of the recommendation."""


@dataclass(frozen=True, slots=True)
class TermDefinition:
    """The definition of a term."""

    iri: str | None
    prefix: bool = False
    protected: bool = False
    reverse: bool = False
    base_url: str = ""
    """The URL of the document that holds `context`."""
    has_context: bool = False
    context: Any = None
    container: frozenset[str] = frozenset()
    type: str | None = None
    has_language: bool = False
    language: str | None = None
    has_direction: bool = False
    direction: str | None = None
    index: str | None = None
    nest: str | None = None


@dataclass(slots=True)
class ActiveContext:
    """What a context says: terms, base, vocabulary, default language and direction."""

    base: str | None
    original_base: str
    terms: dict[str, TermDefinition] = field(default_factory=dict)
    vocab: str | None = None
    language: str | None = None
    direction: str | None = None
    previous: ActiveContext | None = None
    """The context that applies again where this one is not propagated to."""
    _keys: dict[str, str | None] = field(default_factory=dict)

    def copy(self) -> ActiveContext:
        return replace(self, terms=dict(self.terms), _keys={})

    def key(self, name: str) -> str | None:
        """What a key of an object means. Called only after the context is complete, so that it can be remembered."""
        if name in self._keys:
            return self._keys[name]
        meaning = expand_iri(self, name, vocab=True)
        if len(self._keys) < _MAX_REMEMBERED:
            self._keys[name] = meaning
        return meaning


def has_keyword_form(text: str) -> bool:
    """Whether a text looks like a keyword. If it is none, it is reserved and ignored."""
    return _KEYWORD_FORM.fullmatch(text) is not None


def expand_iri(
    active: ActiveContext,
    value: str | None,
    *,
    vocab: bool = False,
    document_relative: bool = False,
    require: Callable[[str], None] | None = None,
) -> str | None:
    """The IRI, blank node label or keyword that a text means; None if it is to be ignored.

    `require` defines a term of the context that is being processed.
    """
    if value is None or value in KEYWORDS:
        return value
    if has_keyword_form(value):
        return None
    if require is not None:
        require(value)
    term = active.terms.get(value)
    if term is not None and (vocab or term.iri in KEYWORDS):
        return term.iri
    if ":" in value[1:]:
        prefix, _, suffix = value.partition(":")
        if prefix == "_" or suffix.startswith("//"):
            return value
        if require is not None:
            require(prefix)
        known = active.terms.get(prefix)
        if known is not None and known.iri is not None and known.prefix:
            return known.iri + suffix
        if is_absolute(value):
            return value
    if vocab and active.vocab is not None:
        return active.vocab + value
    if document_relative and active.base is not None:
        return resolve(active.base, value)
    return value


def names_a_resource(iri: str) -> bool:
    """Whether a text is an IRI or the label of a blank node."""
    return iri.startswith("_:") or is_absolute(iri)


def direction_of(value: Any) -> str | None:
    if value not in (None, "ltr", "rtl"):
        raise JsonLdError("invalid base direction")
    direction: str | None = value
    return direction


def lower_text(value: Any, error: str) -> str | None:
    return None if value is None else text_of(value, error).lower()


def text_of(value: Any, error: str) -> str:
    if not isinstance(value, str):
        raise JsonLdError(error)
    return value


def boolean_of(value: Any, error: str) -> bool:
    if not isinstance(value, bool):
        raise JsonLdError(error)
    return value
