"""Rules of pages and tags, and the places of a page that count although they were learned as noise."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, delete, select, update

from webstrata.records import Page, PageRules
from webstrata.remember.tables import page_tags, pages, tag_rules
from webstrata.remember.text import named, packed

_page_rules = msgspec.json.Decoder(PageRules)


def extended(stored: str | None, given: PageRules) -> str:
    """The stored rules with those that were given, as text."""
    return packed(given if stored is None else _page_rules.decode(stored).extended(given))


def set_for_page(connection: Connection, page_id: int, page_rules: PageRules | None) -> None:
    value = None if page_rules is None else packed(page_rules)
    connection.execute(update(pages).where(pages.c.id == page_id).values(page_rules=value))
    forget_validators(connection, pages.c.id == page_id)


def set_for_tag(connection: Connection, tag: str, page_rules: PageRules | None) -> None:
    forget_validators(connection, pages.c.id.in_(select(page_tags.c.page_id).where(page_tags.c.tag == tag)))
    connection.execute(delete(tag_rules).where(tag_rules.c.tag == tag))
    if page_rules is not None:
        connection.execute(tag_rules.insert().values(tag=named(tag, "tag"), page_rules=packed(page_rules)))


def forget_validators(connection: Connection, which: ColumnElement[bool]) -> None:
    """The next visits get the whole content, also if a visit with the old validators is in flight.

    Rules may change the request: a 304 must not stand for the response to a different one.
    """
    connection.execute(update(pages).where(which).values(etag=None, last_modified=None, edits=pages.c.edits + 1))


def by_tag(connection: Connection) -> dict[str, PageRules]:
    rows = connection.execute(select(tag_rules.c.tag, tag_rules.c.page_rules).order_by(tag_rules.c.tag))
    return {tag: _page_rules.decode(page_rules) for tag, page_rules in rows}


def without_validators(page: Page) -> Page:
    """A visited page whose rules were edited during the visit.

    Its fingerprint says under which rules it was made, so that the next visit observes this version again.
    """
    return replace(page, etag=None, last_modified=None)


def set_counted(connection: Connection, page_id: int, keys: Sequence[int]) -> None:
    value = packed(sorted(set(keys))) if keys else None
    connection.execute(update(pages).where(pages.c.id == page_id).values(counted=value))
