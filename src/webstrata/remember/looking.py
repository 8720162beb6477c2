"""How pages and tags are to be looked at, and which of a page's places count whatever was learned."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, bindparam, delete, select, update

from webstrata.records import Fingerprint, Looking, Page
from webstrata.remember.tables import page_tags, pages, tag_lookings
from webstrata.remember.text import named, packed

_looking = msgspec.json.Decoder(Looking)
_fingerprint = msgspec.json.Decoder(Fingerprint)


def set_for_page(connection: Connection, page_id: int, looking: Looking | None) -> None:
    value = None if looking is None else packed(looking)
    connection.execute(update(pages).where(pages.c.id == page_id).values(looking=value))
    begin_anew(connection, pages.c.id == page_id)


def set_for_tag(connection: Connection, tag: str, looking: Looking | None) -> None:
    begin_anew(connection, pages.c.id.in_(select(page_tags.c.page_id).where(page_tags.c.tag == tag)))
    connection.execute(delete(tag_lookings).where(tag_lookings.c.tag == tag))
    if looking is not None:
        connection.execute(tag_lookings.insert().values(tag=named(tag, "tag"), looking=packed(looking)))


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


def by_tag(connection: Connection) -> dict[str, Looking]:
    rows = connection.execute(select(tag_lookings.c.tag, tag_lookings.c.looking).order_by(tag_lookings.c.tag))
    return {tag: _looking.decode(looking) for tag, looking in rows}


def by_old_wishes(page: Page) -> Page:
    """A visited page whose wishes were changed during the visit: nothing that only the old ones explain is kept."""
    mark = page.fingerprint
    return replace(
        page, etag=None, last_modified=None, fingerprint=None if mark is None else replace(mark, selected=None)
    )


def set_counted(connection: Connection, page_id: int, keys: Sequence[int]) -> None:
    value = packed(sorted(set(keys))) if keys else None
    connection.execute(update(pages).where(pages.c.id == page_id).values(counted=value))
