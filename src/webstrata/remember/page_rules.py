"""How pages and tags are to be looked at, and which of a page's places count whatever was learned."""

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


def set_for_page(connection: Connection, page_id: int, page_rules: PageRules | None) -> None:
    value = None if page_rules is None else packed(page_rules)
    connection.execute(update(pages).where(pages.c.id == page_id).values(page_rules=value))
    begin_anew(connection, pages.c.id == page_id)


def set_for_tag(connection: Connection, tag: str, page_rules: PageRules | None) -> None:
    begin_anew(connection, pages.c.id.in_(select(page_tags.c.page_id).where(page_tags.c.tag == tag)))
    connection.execute(delete(tag_rules).where(tag_rules.c.tag == tag))
    if page_rules is not None:
        connection.execute(tag_rules.insert().values(tag=named(tag, "tag"), page_rules=packed(page_rules)))


def begin_anew(connection: Connection, which: ColumnElement[bool]) -> None:
    """What is asked for and compared may differ from now on.

    A 304 must not stand for what another request got, and what other rules left of a page is nothing to compare with.
    """
    connection.execute(update(pages).where(which).values(etag=None, last_modified=None, edits=pages.c.edits + 1))
    marks = connection.execute(select(pages.c.id, pages.c.fingerprint).where(which, pages.c.fingerprint.is_not(None)))
    changed = [
        {"page": page_id, "mark": packed(replace(mark, selected=None))}
        for page_id, text in marks.all()
        if (mark := _fingerprint.decode(text)).selected is not None
    ]
    if changed:
        statement = update(pages).where(pages.c.id == bindparam("page")).values(fingerprint=bindparam("mark"))
        connection.execute(statement, changed)


def by_tag(connection: Connection) -> dict[str, PageRules]:
    rows = connection.execute(select(tag_rules.c.tag, tag_rules.c.page_rules).order_by(tag_rules.c.tag))
    return {tag: _page_rules.decode(page_rules) for tag, page_rules in rows}


def by_old_wishes(page: Page) -> Page:
    """A visited page whose wishes were changed during the visit: nothing that only the old ones explain is kept."""
    mark = page.fingerprint
    return replace(
        page, etag=None, last_modified=None, fingerprint=None if mark is None else replace(mark, selected=None)
    )


def set_counted(connection: Connection, page_id: int, keys: Sequence[int]) -> None:
    value = packed(sorted(set(keys))) if keys else None
    connection.execute(update(pages).where(pages.c.id == page_id).values(counted=value))
