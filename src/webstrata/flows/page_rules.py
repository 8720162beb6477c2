"""How each page is looked at: by its own wish, else by its tags'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from webstrata.records import Page, PageRules


def with_tag_rules(pages: Sequence[Page], by_tag: Mapping[str, PageRules]) -> list[Page]:
    """Pages with the wish that holds for them; of several tags that have one, the first in order."""
    if not by_tag:
        return list(pages)
    return [page if page.page_rules is not None else replace(page, page_rules=_of_tags(page, by_tag)) for page in pages]


def _of_tags(page: Page, by_tag: Mapping[str, PageRules]) -> PageRules | None:
    return next((by_tag[tag] for tag in sorted(page.tags) if tag in by_tag), None)
