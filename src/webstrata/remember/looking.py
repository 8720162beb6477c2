"""How pages and tags are to be looked at, and what detection remembers of a page."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, delete, select, update

from webstrata.records import Looking
from webstrata.remember.tables import page_tags, pages, tag_lookings
from webstrata.remember.text import named, packed

_looking = msgspec.json.Decoder(Looking)


# What is asked for may differ from now on: a 304 must not stand for what another request got.
_ASK_IN_FULL = {"etag": None, "last_modified": None}


def set_for_page(connection: Connection, page_id: int, looking: Looking | None) -> None:
    value = None if looking is None else packed(looking)
    connection.execute(update(pages).where(pages.c.id == page_id).values(looking=value, **_ASK_IN_FULL))


def set_for_tag(connection: Connection, tag: str, looking: Looking | None) -> None:
    tagged = select(page_tags.c.page_id).where(page_tags.c.tag == tag)
    connection.execute(update(pages).where(pages.c.id.in_(tagged)).values(_ASK_IN_FULL))
    connection.execute(delete(tag_lookings).where(tag_lookings.c.tag == tag))
    if looking is not None:
        connection.execute(tag_lookings.insert().values(tag=named(tag, "tag"), looking=packed(looking)))


def by_tag(connection: Connection) -> dict[str, Looking]:
    rows = connection.execute(select(tag_lookings.c.tag, tag_lookings.c.looking).order_by(tag_lookings.c.tag))
    return {tag: _looking.decode(looking) for tag, looking in rows}


def set_memory(connection: Connection, page_id: int, memory: bytes) -> None:
    connection.execute(update(pages).where(pages.c.id == page_id).values(memory=memory))
