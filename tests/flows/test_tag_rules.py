"""The rules of pages with tags."""

from __future__ import annotations

from webstrata.flows.tag_rules import with_tag_rules
from webstrata.records import Page, PageRules

OWN, NEWS, SHOP = (PageRules(ignore=(f"css:.{name}",)) for name in ("own", "news", "shop"))


def page(*tags: str, page_rules: PageRules | None = None) -> Page:
    return Page(id=1, url="https://a.example/", host="a.example", tags=tags, page_rules=page_rules)


def test_own_rules_come_first() -> None:
    """A page keeps its own rules; else the first of its tags, by name, that has rules gives them."""
    pages = [page("news", page_rules=OWN), page("shop", "news"), page("shop"), page("other"), page()]
    found = [one.page_rules for one in with_tag_rules(pages, {"news": NEWS, "shop": SHOP})]
    assert found == [OWN, NEWS, SHOP, None, None]
    assert with_tag_rules(pages, {}) == pages
