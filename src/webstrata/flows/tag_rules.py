"""The rules that apply to pages: their own, or those of their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from webstrata.records import Page, PageRules


def with_tag_rules(pages: Sequence[Page], by_tag: Mapping[str, PageRules]) -> list[Page]:
    """Pages with the rules that apply to them: their own, else those of the first of their tags that has rules."""
    if not by_tag:
        return list(pages)
    return [page if page.page_rules is not None else replace(page, page_rules=_of_tags(page, by_tag)) for page in pages]


def _of_tags(page: Page, by_tag: Mapping[str, PageRules]) -> PageRules | None:
    return next((by_tag[tag] for tag in sorted(page.tags) if tag in by_tag), None)
