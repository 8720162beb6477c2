"""Rules of pages and tags, and the places of a page that count although they were learned as noise."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, bindparam, delete, select, update

from webstrata.records import Fingerprint, Page, PageRules
from webstrata.remember.tables import page_tags, pages, tag_rules
from webstrata.remember.text import named, packed

_page_rules = msgspec.json.Decoder(PageRules)
_fingerprint = msgspec.json.Decoder(Fingerprint)


def extended(stored: str | None, given: PageRules) -> str:
    """The stored rules with those that were given, as text."""
    return packed(given if stored is None else _page_rules.decode(stored).extended(given))


def set_for_page(connection: Connection, page_id: int, page_rules: PageRules | None) -> None:
    value = None if page_rules is None else packed(page_rules)
    connection.execute(update(pages).where(pages.c.id == page_id).values(page_rules=value))
    reset_comparison(connection, pages.c.id == page_id)


def set_for_tag(connection: Connection, tag: str, page_rules: PageRules | None) -> None:
    reset_comparison(connection, pages.c.id.in_(select(page_tags.c.page_id).where(page_tags.c.tag == tag)))
    connection.execute(delete(tag_rules).where(tag_rules.c.tag == tag))
    if page_rules is not None:
        connection.execute(tag_rules.insert().values(tag=named(tag, "tag"), page_rules=packed(page_rules)))


def reset_comparison(connection: Connection, which: ColumnElement[bool]) -> None:
    """Forget validators and the selected part of the fingerprint: rules may change the request and the comparison.

    A 304 must not stand for the response to a different request, and content selected by other rules is not comparable.
    """
    forget_validators(connection, which)
    stored = connection.execute(select(pages.c.id, pages.c.fingerprint).where(which, pages.c.fingerprint.is_not(None)))
    changed = [
        {"page": page_id, "new_fingerprint": packed(replace(fingerprint, selected=None))}
        for page_id, text in stored.all()
        if (fingerprint := _fingerprint.decode(text)).selected is not None
    ]
    if changed:
        statement = (
            update(pages).where(pages.c.id == bindparam("page")).values(fingerprint=bindparam("new_fingerprint"))
        )
        connection.execute(statement, changed)


def forget_validators(connection: Connection, which: ColumnElement[bool]) -> None:
    """The next visits get the whole content, also if a visit with the old validators is in flight."""
    connection.execute(update(pages).where(which).values(etag=None, last_modified=None, edits=pages.c.edits + 1))


def by_tag(connection: Connection) -> dict[str, PageRules]:
    rows = connection.execute(select(tag_rules.c.tag, tag_rules.c.page_rules).order_by(tag_rules.c.tag))
    return {tag: _page_rules.decode(page_rules) for tag, page_rules in rows}


def without_rule_results(page: Page) -> Page:
    """A visited page whose rules were changed during the visit, without the results that depend on the old rules."""
    fingerprint = page.fingerprint
    return replace(
        page,
        etag=None,
        last_modified=None,
        fingerprint=None if fingerprint is None else replace(fingerprint, selected=None),
    )


def set_counted(connection: Connection, page_id: int, keys: Sequence[int]) -> None:
    value = packed(sorted(set(keys))) if keys else None
    connection.execute(update(pages).where(pages.c.id == page_id).values(counted=value))
