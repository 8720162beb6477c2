"""Applies a page's include and ignore rules: returns the text to compare.

Ignored parts are excluded from the comparison and from every difference shown. Rules that do not fit the media type
(CSS on JSON) are skipped, with a note. Rules access only the document: no file, URL, time or environment variable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.observe.html.tree import plain_lines
from webstrata.observe.media import HTML
from webstrata.records import ATTRIBUTE_KINDS, PageRules

HANDLERS = ("auto", "http", "rdf", "sparql", "feed", "sitemap", "browser")
LAYERS = ("auto", "raw", "text", "main", "links", "data")
_MAX_RULES = 50
_MAX_TEXT_LENGTH = 4_000_000
_TOO_COSTLY = "the page is too large or too deep for CSS and XPath rules; they were skipped"

Rule = tuple[str, str]


class SelectedContent(Struct, frozen=True, kw_only=True, gc=False):
    """The content that the rules select."""

    text: str | None
    """In lines; None if no rule fits the media type, so that the whole content is compared."""
    note: str | None = None
    """Rules that matched nothing or could not be used."""

    @property
    def digest(self) -> str | None:
        """For `Fingerprint.selected`."""
        return None if self.text is None else hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()


def has_rules(page_rules: PageRules | None) -> bool:
    return page_rules is not None and bool(page_rules.include or page_rules.ignore or page_rules.ignore_text)


def check_page_rules(page_rules: PageRules) -> None:
    """Check the rules. Raises `UsageError` with the invalid rule and the reason."""
    if page_rules.handler not in HANDLERS:
        raise UsageError(f"{page_rules.handler!r} is not a handler; use one of {', '.join(HANDLERS)}")
    if page_rules.layer not in LAYERS:
        raise UsageError(f"{page_rules.layer!r} is not a layer; use one of {', '.join(LAYERS)}")
    if not 0.0 <= page_rules.min_size <= 1.0:
        raise UsageError(f"the minimum size is a fraction from 0 to 1, not {page_rules.min_size}")
    if page_rules.ordered and page_rules.unordered:
        raise UsageError("use --ordered or --unordered, not both")
    _check_attributes(page_rules.attributes, page_rules.ignore_attributes)
    if len(page_rules.include) + len(page_rules.ignore) + len(page_rules.ignore_text) > _MAX_RULES:
        raise UsageError(f"a page can have at most {_MAX_RULES} rules")
    rules = [_rule(rule) for rule in (*page_rules.include, *page_rules.ignore)]
    if rules or page_rules.ignore_text:
        _check_rules(rules, page_rules.ignore_text)


def _check_attributes(counted: Sequence[str], ignored: Sequence[str]) -> None:
    for kind in (*counted, *ignored):
        if kind not in ATTRIBUTE_KINDS:
            raise UsageError(f"{kind[:80]!r} is not a kind of attribute; use some of {', '.join(ATTRIBUTE_KINDS)}")
    both = sorted(set(counted).intersection(ignored))
    if both:
        raise UsageError(f"use --attributes or --ignore-attributes for {', '.join(both)}, not both")


# Most pages have no rules, so the libraries for rules (lxml, JSONPath, RE2) are imported only when they are needed.


def _check_rules(rules: list[Rule], ignore_text: Sequence[str]) -> None:
    from webstrata.observe.rules.css_xpath import check_css, xpath
    from webstrata.observe.rules.jsonpath import jsonpath
    from webstrata.observe.rules.regex import pattern

    checks: dict[str, Callable[[str], object]] = {"css": check_css, "xpath": xpath, "jsonpath": jsonpath}
    for kind, expression in rules:
        checks[kind](expression)
    for expression in ignore_text:
        pattern(expression)


def select(content: str, media_type: str, page_rules: PageRules) -> SelectedContent:
    """Apply a page's rules (checked before) to its decoded content."""
    from webstrata.observe.rules.regex import without

    include, ignore = [_rule(rule) for rule in page_rules.include], [_rule(rule) for rule in page_rules.ignore]
    found, note = _by_kind(content, media_type, include, ignore)
    if found is None and not page_rules.ignore_text:
        return SelectedContent(text=None, note=note)
    text, missed = found if found is not None else (plain_lines(content[:_MAX_TEXT_LENGTH]), [])
    notes = [note] if note else []
    notes += [f"{rule} matched nothing" for rule in missed]
    text = without(text[:_MAX_TEXT_LENGTH], page_rules.ignore_text)
    return SelectedContent(text=text, note="; ".join(notes) or None)


def _by_kind(
    content: str, media_type: str, include: list[Rule], ignore: list[Rule]
) -> tuple[tuple[str, list[str]] | None, str | None]:
    """(Text and rules that matched nothing, or None if the rules cannot be applied; a note)."""
    usable = _usable(media_type)
    unusable = [f"{kind}:{rule}" for kind, rule in (*include, *ignore) if kind not in usable]
    note = f"not for {media_type}: {', '.join(unusable)}" if unusable else None
    include, ignore = [rule for rule in include if rule[0] in usable], [rule for rule in ignore if rule[0] in usable]
    if not usable or (unusable and not include and not ignore):
        return None, note
    paths = [rule for _, rule in include], [rule for _, rule in ignore]
    if media_type in HTML:
        from webstrata.observe.rules.css_xpath import select_html

        return (found, note) if (found := select_html(content, include, ignore)) else (None, _TOO_COSTLY)
    if "jsonpath" in usable:
        from webstrata.observe.rules.jsonpath import select_json

        return (found, note) if (found := select_json(content, *paths)) else (None, "not JSON, or nested too deeply")
    from webstrata.observe.rules.css_xpath import select_xml

    found = select_xml(content.encode(), *paths)
    return (found, note) if found else (None, "not well-formed XML, or it declares entities")


def _usable(media_type: str) -> frozenset[str]:
    """The kinds of rules that fit a media type."""
    if media_type in HTML:
        return frozenset({"css", "xpath"})
    if media_type == "application/json" or media_type.endswith("+json"):
        return frozenset({"jsonpath"})
    if media_type in ("application/xml", "text/xml") or media_type.endswith("+xml"):
        return frozenset({"xpath"})
    return frozenset()


def _rule(rule: str) -> Rule:
    kind, colon, expression = rule.partition(":")
    if not colon or kind not in ("css", "xpath", "jsonpath"):
        raise UsageError(f"a rule must begin with css:, xpath: or jsonpath:, unlike {rule[:80]!r}")
    return kind, expression.strip()
