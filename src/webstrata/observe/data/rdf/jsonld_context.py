"""JSON-LD 1.1 contexts (JSON-LD API, section 4.1). Remote contexts come from the caller's `load`.

The names of errors are those of the recommendation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webstrata.observe.data.rdf.iri import is_absolute, resolve
from webstrata.observe.data.rdf.jsonld_definitions import CONTEXT_KEYS, Definitions
from webstrata.observe.data.rdf.jsonld_terms import (
    ActiveContext,
    JsonLdError,
    TermDefinition,
    boolean_of,
    direction_of,
    expand_iri,
    lower_text,
    names_a_resource,
    text_of,
)

_MAX_REMOTE = 100
"""Nested remote contexts; without a limit, contexts that refer to each other would never end."""
_MAX_WORK = 100_000
"""Term definitions created and copied in one document: about a second. The context of schema.org has 3,000 terms."""
_MAX_REMEMBERED = 1_000
_COPIED_PER_WORK = 16
"""Copying this number of terms costs as much as the definition of one."""


class ContextProcessor:
    """Makes active contexts. `load` returns the JSON document at a URL, or raises."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        self._load = load
        self._work = 0
        self._scoped: dict[tuple[int, int, bool], tuple[ActiveContext, TermDefinition, ActiveContext]] = {}
        self._named: dict[tuple[int, tuple[str, ...]], tuple[ActiveContext, ActiveContext]] = {}

    def embedded(self, active: ActiveContext, local: Any, base_url: str) -> ActiveContext:
        """The active context inside an object that has a context of its own. Remote contexts are processed once."""
        names = local if isinstance(local, list) else [local]
        if not names or not all(isinstance(name, str) for name in names):
            return self.process(active, local, base_url)
        key = (id(active), tuple(names))
        known = self._named.get(key)
        if known is not None:
            return known[1]
        made = self.process(active, local, base_url)
        if len(self._named) >= _MAX_REMEMBERED:
            self._named.clear()
        self._named[key] = (active, made)  # the first is kept, so that its id stays its own
        return made

    def scoped(self, active: ActiveContext, term: TermDefinition, *, propagate: bool = True) -> ActiveContext:
        """The active context inside a property (`propagate`) or a type that has a context of its own."""
        key = (id(active), id(term), propagate)
        known = self._scoped.get(key)
        if known is not None:
            return known[2]
        made = self.process(active, term.context, term.base_url, override_protected=propagate, propagate=propagate)
        if len(self._scoped) >= _MAX_REMEMBERED:
            self._scoped.clear()
        self._scoped[key] = (active, term, made)  # the first two are kept, so that their ids stay theirs
        return made

    def process(
        self,
        active: ActiveContext,
        local: Any,
        base_url: str,
        *,
        remote: tuple[str, ...] = (),
        override_protected: bool = False,
        propagate: bool = True,
        validate_scoped: bool = True,
    ) -> ActiveContext:
        """The context that results from a local context (section 4.1)."""
        result = self._copied(active)
        if isinstance(local, dict) and "@propagate" in local:
            propagate = boolean_of(local["@propagate"], "invalid @propagate value")
        if not propagate and result.previous is None:
            result.previous = active
        for context in local if isinstance(local, list) else [local]:
            if context is None:
                if not override_protected and any(term.protected for term in result.terms.values()):
                    raise JsonLdError("invalid context nullification")
                empty = ActiveContext(active.original_base, active.original_base)
                empty.previous = result if not propagate else None
                result = empty
            elif isinstance(context, str):
                result = self._remote(result, context, base_url, remote, validate_scoped)
            elif isinstance(context, dict):
                self._apply(result, context, base_url, remote, override_protected, validate_scoped)
            else:
                raise JsonLdError("invalid local context")
        return result

    def _copied(self, active: ActiveContext) -> ActiveContext:
        self._spend(1 + len(active.terms) // _COPIED_PER_WORK)
        return active.copy()

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _MAX_WORK:
            raise JsonLdError(f"contexts with more than {_MAX_WORK} definitions")

    def _remote(
        self, result: ActiveContext, address: str, base_url: str, remote: tuple[str, ...], validate_scoped: bool
    ) -> ActiveContext:
        url = resolve(base_url, address)
        if not validate_scoped and url in remote:
            return result
        if len(remote) >= _MAX_REMOTE:
            raise JsonLdError("context overflow")
        context = self._context_at(url)
        return self.process(result, context, url, remote=(*remote, url), validate_scoped=validate_scoped)

    def _context_at(self, url: str) -> Any:
        document = self._load(url)
        if not isinstance(document, dict) or "@context" not in document:
            raise JsonLdError("invalid remote context")
        return document["@context"]

    def _apply(
        self,
        result: ActiveContext,
        context: dict[str, Any],
        base_url: str,
        remote: tuple[str, ...],
        override_protected: bool,
        validate_scoped: bool,
    ) -> None:
        if "@version" in context and (isinstance(context["@version"], bool) or context["@version"] != 1.1):
            raise JsonLdError("invalid @version value")
        if "@import" in context:
            context = self._imported(context, base_url)
        if "@base" in context and not remote:
            result.base = _base(result.base, context["@base"])
        if "@propagate" in context:
            boolean_of(context["@propagate"], "invalid @propagate value")
        protected = boolean_of(context.get("@protected", False), "invalid @protected value")

        def check_scoped(scoped: Any) -> None:
            """A scoped context is processed when it is used; here it must only be valid."""
            if validate_scoped:
                self.process(result, scoped, base_url, remote=remote, override_protected=True, validate_scoped=False)

        definitions = Definitions(
            result,
            context,
            base_url,
            protected=protected,
            override_protected=override_protected,
            check_scoped=check_scoped,
        )
        if "@vocab" in context:
            result.vocab = _vocab(result, context["@vocab"])
        if "@language" in context:
            result.language = lower_text(context["@language"], "invalid default language")
        if "@direction" in context:
            result.direction = direction_of(context["@direction"])
        self._spend(len(context))
        for term in context:
            if term not in CONTEXT_KEYS:
                definitions.create(term)

    def _imported(self, context: dict[str, Any], base_url: str) -> dict[str, Any]:
        if not isinstance(context["@import"], str):
            raise JsonLdError("invalid @import value")
        imported = self._context_at(resolve(base_url, context["@import"]))
        if not isinstance(imported, dict):
            raise JsonLdError("invalid remote context")
        if "@import" in imported:
            raise JsonLdError("invalid context entry")
        return {**imported, **{key: value for key, value in context.items() if key != "@import"}}


def _base(base: str | None, value: Any) -> str | None:
    if value is None:
        return None
    text = text_of(value, "invalid base IRI")
    if is_absolute(text):
        return text
    if base is None:
        raise JsonLdError("invalid base IRI")
    return resolve(base, text)


def _vocab(active: ActiveContext, value: Any) -> str | None:
    if value is None:
        return None
    iri = expand_iri(active, text_of(value, "invalid vocab mapping"), vocab=True, document_relative=True)
    if iri is None or (iri and active.base is not None and not names_a_resource(iri)):
        raise JsonLdError("invalid vocab mapping")
    return iri
