"""The links that were ever seen on pages, each with the time of the first content that has it.

The order of imports does not matter: of two contents with a link, the earlier one is the first. `link_rows` is imported
where it is used: most commands need no NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from webstrata.remember import statements
from webstrata.remember.statements import chunks, execute_among
from webstrata.remember.tables import page_links, pages


def add_links(connection: Connection, found: Sequence[tuple[int, float, bytes]]) -> None:
    """Add the links of contents: (page id, time, packed rows of `COPY_LINK`). The transaction has locked the pages:
    two writers would each lose the links that the other one adds."""
    if not found:
        return
    from webstrata.remember.history.link_rows import with_contents

    by_page: dict[int, list[tuple[float, bytes]]] = {}
    for page_id, at, packed in found:
        by_page.setdefault(page_id, []).append((at, packed))
    before = dict(_rows(connection, list(by_page)))
    rows: list[dict[str, Any]] = []
    for page_id, contents in by_page.items():
        stored = before.get(page_id)
        links = with_contents(stored, contents)
        if links != stored:
            rows.append({"page_id": page_id, "links": links})
    statements.put(connection, page_links, "page_id", rows)


def links_of(connection: Connection, ids: Sequence[int]) -> dict[int, bytes]:
    """The links of these pages, packed."""
    from webstrata.remember.history.link_rows import unpacked

    return {page_id: unpacked(stored).tobytes() for page_id, stored in _rows(connection, ids)}


def _rows(connection: Connection, ids: Sequence[int]) -> list[tuple[int, bytes]]:
    """(Page id, links as stored) of these pages."""
    found: list[tuple[int, bytes]] = []
    for chunk in chunks(sorted(set(ids))):
        found += [(row.page_id, bytes(row.links)) for row in execute_among(connection, _stored, chunk)]
    return found


def _stored(among: Any) -> Any:
    return select(page_links.c.page_id, page_links.c.links).where(among(page_links.c.page_id))


def links_after(connection: Connection, after: int, limit: int) -> list[tuple[int, str, bytes]]:
    """(page id, URL, links) of the next pages by id that have links."""
    from webstrata.remember.history.link_rows import unpacked

    query = (
        select(page_links.c.page_id, pages.c.url, page_links.c.links)
        .join(pages, pages.c.id == page_links.c.page_id)
        .where(page_links.c.page_id > after)
    )
    found = connection.execute(query.order_by(page_links.c.page_id).limit(limit))
    return [(page_id, url, unpacked(bytes(links)).tobytes()) for page_id, url, links in found]
