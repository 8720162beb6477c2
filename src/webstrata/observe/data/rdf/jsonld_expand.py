"""JSON-LD 1.1 expansion: a document without contexts, terms and shorthands (JSON-LD API, section 5.1 and 5.3).

The names of steps and errors are those of the recommendation.
"""

from __future__ import annotations

from typing import Any

from webstrata.observe.data.rdf.iri import is_well_formed
from webstrata.observe.data.rdf.jsonld_context import ContextProcessor
from webstrata.observe.data.rdf.jsonld_terms import (
    KEYWORDS,
    ActiveContext,
    JsonLdError,
    TermDefinition,
    expand_iri,
    text_of,
)

_VALUE_KEYS = frozenset(("@direction", "@index", "@language", "@type", "@value"))
_UNDEFINED = TermDefinition(iri=None)


class Expansion:
    """Expands the elements of one document."""

    def __init__(self, contexts: ContextProcessor, url: str) -> None:
        self._contexts = contexts
        self._url = url

    def document(self, document: Any) -> list[Any]:
        """The expanded form of a whole document."""
        expanded = self._element(ActiveContext(self._url, self._url), None, document)
        if isinstance(expanded, dict) and expanded.keys() == {"@graph"}:
            expanded = expanded["@graph"]
        return _array(expanded)

    def _element(self, active: ActiveContext, name: str | None, element: Any, from_map: bool = False) -> Any:
        """Expand a value of the property `name`; None if nothing remains."""
        if element is None:
            return None
        term = active.terms.get(name, _UNDEFINED) if name is not None else _UNDEFINED
        if isinstance(element, list):
            return self._list(active, name, term, element, from_map)
        if isinstance(element, dict):
            return self._object(active, name, term, element, from_map)
        if name is None or name == "@graph":
            return None
        if term.has_context:
            active = self._contexts.scoped(active, term)
        return _expanded_value(active, name, element)

    def _list(
        self, active: ActiveContext, name: str | None, term: TermDefinition, items: list[Any], from_map: bool
    ) -> list[Any]:
        result: list[Any] = []
        for item in items:
            expanded = self._element(active, name, item, from_map)
            if "@list" in term.container and isinstance(expanded, list):
                expanded = {"@list": expanded}
            if isinstance(expanded, list):
                result += expanded
            elif expanded is not None:
                result.append(expanded)
        return result

    def _object(
        self, active: ActiveContext, name: str | None, term: TermDefinition, element: dict[str, Any], from_map: bool
    ) -> Any:
        if active.previous is not None and not from_map:
            keys = {active.key(key) for key in element}
            if "@value" not in keys and not (len(element) == 1 and keys == {"@id"}):
                active = active.previous
        if term.has_context:
            active = self._contexts.scoped(active, term)
        if "@context" in element:
            active = self._contexts.embedded(active, element["@context"], self._url)
        type_scoped = active
        type_keys = sorted(key for key in element if active.key(key) == "@type")
        active = self._with_type_contexts(active, element, type_keys)
        result: dict[str, Any] = {}
        is_json = _input_type(active, element, type_keys) == "@json"
        self._entries(active, type_scoped, name, element, result, is_json)
        return _finished(result, name)

    def _with_type_contexts(
        self, active: ActiveContext, element: dict[str, Any], type_keys: list[str]
    ) -> ActiveContext:
        type_scoped = active
        for key in type_keys:
            for kind in sorted(kind for kind in _array(element[key]) if isinstance(kind, str)):
                term = type_scoped.terms.get(kind, _UNDEFINED)
                if term.has_context:
                    active = self._contexts.scoped(active, term, propagate=False)
        return active

    def _entries(
        self,
        active: ActiveContext,
        type_scoped: ActiveContext,
        name: str | None,
        element: dict[str, Any],
        result: dict[str, Any],
        is_json: bool,
    ) -> None:
        """Expand the entries of an object into `result` (steps 13 and 14)."""
        nests: list[str] = []
        for key, value in element.items():
            if key == "@context":
                continue
            expanded_key = active.key(key)
            if expanded_key is None or (":" not in expanded_key and expanded_key not in KEYWORDS):
                continue
            if expanded_key == "@nest":
                nests.append(key)
            elif expanded_key in KEYWORDS:
                if name is not None and active.key(name) == "@reverse":
                    raise JsonLdError("invalid reverse property map")
                if expanded_key in result and expanded_key not in ("@included", "@type"):
                    raise JsonLdError("colliding keywords")
                self._keyword(active, type_scoped, name, expanded_key, value, result, is_json)
            else:
                self._property(active, key, expanded_key, value, result)
        for key in nests:
            self._nested(active, type_scoped, key, element[key], result, is_json)

    def _nested(
        self,
        active: ActiveContext,
        type_scoped: ActiveContext,
        key: str,
        value: Any,
        result: dict[str, Any],
        is_json: bool,
    ) -> None:
        term = active.terms.get(key, _UNDEFINED)
        if term.has_context:
            active = self._contexts.scoped(active, term)
        for nested in _array(value):
            if not isinstance(nested, dict) or any(active.key(inner) == "@value" for inner in nested):
                raise JsonLdError("invalid @nest value")
            self._entries(active, type_scoped, key, nested, result, is_json)

    def _keyword(
        self,
        active: ActiveContext,
        type_scoped: ActiveContext,
        name: str | None,
        keyword: str,
        value: Any,
        result: dict[str, Any],
        is_json: bool,
    ) -> None:
        match keyword:
            case "@id":
                result[keyword] = expand_iri(active, text_of(value, "invalid @id value"), document_relative=True)
            case "@type":
                kinds = [text_of(kind, "invalid type value") for kind in _array(value)]
                expanded = [expand_iri(type_scoped, kind, vocab=True, document_relative=True) for kind in kinds]
                result[keyword] = [*_array(result.get(keyword, [])), *expanded]
                if not isinstance(value, list) and len(result[keyword]) == 1:
                    result[keyword] = result[keyword][0]  # a single type may be that of a value object
            case "@graph":
                result[keyword] = _array(self._element(active, "@graph", value))
            case "@included":
                expanded_items = self._element(active, None, value)
                included = expanded_items if isinstance(expanded_items, list) else [expanded_items]
                if not all(_is_node(item) for item in included):
                    raise JsonLdError("invalid @included value")
                result[keyword] = [*result.get(keyword, []), *included]
            case "@value":
                if not is_json and isinstance(value, dict | list):
                    raise JsonLdError("invalid value object value")
                result[keyword] = value
            case "@language":
                result[keyword] = text_of(value, "invalid language-tagged string").lower()
            case "@direction":
                if value not in ("ltr", "rtl"):
                    raise JsonLdError("invalid base direction")
                result[keyword] = value
            case "@index":
                result[keyword] = text_of(value, "invalid @index value")
            case "@list":
                if name is not None and name != "@graph":
                    result[keyword] = _array(self._element(active, name, value))
            case "@set":
                result[keyword] = self._element(active, name, value)
            case "@reverse":
                self._reversed(active, value, result)

    def _reversed(self, active: ActiveContext, value: Any, result: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            raise JsonLdError("invalid @reverse value")
        expanded = self._element(active, "@reverse", value)
        if not isinstance(expanded, dict):
            return
        for key, items in expanded.pop("@reverse", {}).items():
            _add(result, key, items)
        for key, items in expanded.items():
            _add_reversed(result, key, _array(items))

    def _property(self, active: ActiveContext, key: str, expanded_key: str, value: Any, result: dict[str, Any]) -> None:
        term = active.terms.get(key, _UNDEFINED)
        if term.type == "@json":
            expanded: Any = {"@value": value, "@type": "@json"}
        elif "@language" in term.container and isinstance(value, dict):
            expanded = _language_map(active, term, value)
        elif term.container & {"@index", "@type", "@id"} and isinstance(value, dict):
            expanded = self._index_map(active, key, term, value)
        else:
            expanded = self._element(active, key, value)
        if expanded is None:
            return
        if "@list" in term.container and not (isinstance(expanded, dict) and "@list" in expanded):
            expanded = {"@list": _array(expanded)}
        if "@graph" in term.container and not term.container & {"@id", "@index"}:
            expanded = [{"@graph": _array(item)} for item in _array(expanded)]
        if term.reverse:
            _add_reversed(result, expanded_key, _array(expanded))
        else:
            _add(result, expanded_key, _array(expanded))

    def _index_map(self, active: ActiveContext, key: str, term: TermDefinition, value: dict[str, Any]) -> list[Any]:
        result: list[Any] = []
        for index, indexed in value.items():
            inner = active
            if term.container & {"@id", "@type"}:
                inner = active.previous or active
                kind = inner.terms.get(index, _UNDEFINED)
                if "@type" in term.container and kind.has_context:
                    inner = self._contexts.scoped(inner, kind, propagate=False)
            expanded_index = active.key(index)
            for item in _array(self._element(inner, key, _array(indexed), True)):
                if "@graph" in term.container and not _is_graph(item):
                    item = {"@graph": [item]}
                if expanded_index != "@none":
                    _set_index(active, term, index, expanded_index, item)
                result.append(item)
        return result


def _set_index(
    active: ActiveContext, term: TermDefinition, index: str, expanded_index: str | None, item: dict[str, Any]
) -> None:
    """Add what the key of an index map says to an item of it."""
    if "@index" in term.container and term.index is not None:
        property_name = active.key(term.index) or ""
        item[property_name] = [_expanded_value(active, term.index, index), *_array(item.get(property_name, []))]
        if "@value" in item:
            raise JsonLdError("invalid value object")
    elif "@index" in term.container:
        item.setdefault("@index", index)
    elif "@value" in item:
        raise JsonLdError("invalid value object")
    elif "@id" in term.container:
        if "@id" not in item:
            item["@id"] = expand_iri(active, index, document_relative=True)
    else:
        item["@type"] = [expanded_index, *_array(item.get("@type", []))]


def _language_map(active: ActiveContext, term: TermDefinition, value: dict[str, Any]) -> list[Any]:
    direction = term.direction if term.has_direction else active.direction
    result: list[Any] = []
    for language, texts in value.items():
        for text in _array(texts):
            if text is None:
                continue
            item: dict[str, Any] = {"@value": text_of(text, "invalid language map value")}
            if active.key(language) != "@none":
                item["@language"] = language.lower()
            if direction is not None:
                item["@direction"] = direction
            result.append(item)
    return result


def _expanded_value(active: ActiveContext, name: str, value: Any) -> dict[str, Any]:
    """A scalar as an object (section 5.3)."""
    term = active.terms.get(name, _UNDEFINED)
    if isinstance(value, str) and term.type in ("@id", "@vocab"):
        iri = expand_iri(active, value, vocab=term.type == "@vocab", document_relative=True)
        return {"@id": iri}
    result: dict[str, Any] = {"@value": value}
    if term.type is not None and term.type not in ("@id", "@vocab", "@none"):
        result["@type"] = term.type
    elif isinstance(value, str):
        language = term.language if term.has_language else active.language
        direction = term.direction if term.has_direction else active.direction
        if language is not None:
            result["@language"] = language
        if direction is not None:
            result["@direction"] = direction
    return result


def _input_type(active: ActiveContext, element: dict[str, Any], type_keys: list[str]) -> str | None:
    """The expanded last type of the first entry for types."""
    kinds = _array(element[type_keys[0]]) if type_keys else []
    return active.key(kinds[-1]) if kinds and isinstance(kinds[-1], str) else None


def _finished(result: dict[str, Any], name: str | None) -> Any:
    """Check the form of an expanded object (steps 15 to 19)."""
    if "@value" in result:
        return _finished_value(result, name)
    if "@type" in result:
        result["@type"] = _array(result["@type"])
    if "@set" in result or "@list" in result:
        if not result.keys() <= {"@index", "@set", "@list"} or {"@set", "@list"} <= result.keys():
            raise JsonLdError("invalid set or list object")
        if "@set" in result:
            return result["@set"]
    if result.keys() == {"@language"}:
        return None
    if name is None or name == "@graph":
        is_nothing = not result or "@list" in result or result.keys() == {"@id"}
        return None if is_nothing else result
    return result


def _finished_value(result: dict[str, Any], name: str | None) -> Any:
    has_text_fields = "@language" in result or "@direction" in result
    if not result.keys() <= _VALUE_KEYS or ("@type" in result and has_text_fields):
        raise JsonLdError("invalid value object")
    kind = result.get("@type")
    kind = kind[0] if isinstance(kind, list) and kind == ["@json"] else kind
    if kind == "@json":
        result["@type"] = kind
    elif result["@value"] is None:
        return None
    elif "@language" in result and not isinstance(result["@value"], str):
        raise JsonLdError("invalid language-tagged value")
    elif "@type" in result and not (isinstance(kind, str) and is_well_formed(kind)):
        raise JsonLdError("invalid typed value")
    return None if name is None or name == "@graph" else result


def _is_graph(item: dict[str, Any]) -> bool:
    return "@graph" in item and item.keys() <= {"@graph", "@id", "@index"}


def _is_node(item: Any) -> bool:
    return isinstance(item, dict) and not item.keys() & {"@value", "@list", "@set"}


def _add(result: dict[str, Any], key: str, items: Any) -> None:
    result.setdefault(key, []).extend(_array(items))


def _add_reversed(result: dict[str, Any], key: str, items: list[Any]) -> None:
    if any("@value" in item or "@list" in item for item in items):
        raise JsonLdError("invalid reverse property value")
    _add(result.setdefault("@reverse", {}), key, items)


def _array(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
