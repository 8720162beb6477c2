"""The links that were ever seen on pages, each with the time of the first content that has it.

The order of imports does not matter: of two contents with a link, the earlier one is the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from webstrata.columns import COPY_LINK, SEEN_LINK
from webstrata.remember import statements
from webstrata.remember.statements import chunks
from webstrata.remember.tables import page_links, pages

MAX_LINKS = 20_000
"""Links that are kept of a page: the earliest ones."""


def add_links(connection: Connection, found: Sequence[tuple[int, float, bytes]]) -> None:
    """Add the links of contents: (page id, time, packed rows of `COPY_LINK`)."""
    by_page: dict[int, list[NDArray[np.void]]] = {}
    for page_id, at, packed in found:
        by_page.setdefault(page_id, []).append(_seen(packed, at))
    before = links_of(connection, list(by_page))
    rows: list[dict[str, Any]] = []
    for page_id, seen in by_page.items():
        stored = np.frombuffer(before.get(page_id, b""), dtype=SEEN_LINK)
        merged = _earliest(np.concatenate([stored, *seen])).tobytes()
        if merged != before.get(page_id):
            rows.append({"page_id": page_id, "links": merged})
    statements.put(connection, page_links, "page_id", rows)


def _seen(packed: bytes, at: float) -> NDArray[np.void]:
    links = np.frombuffer(packed, dtype=COPY_LINK)
    seen = np.empty(len(links), dtype=SEEN_LINK)
    seen["value"], seen["kind"], seen["first_at"] = links["value"], links["kind"], at
    return seen


def _earliest(links: NDArray[np.void]) -> NDArray[np.void]:
    """Each link once, with its earliest time, sorted by link."""
    ordered = links[np.lexsort((links["first_at"], links["value"]))]
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered["value"][1:] != ordered["value"][:-1]
    unique = ordered[is_first]
    if len(unique) > MAX_LINKS:
        kept = np.sort(np.argsort(unique["first_at"], kind="stable")[:MAX_LINKS])
        unique = unique[kept]
    return unique


def links_of(connection: Connection, ids: Sequence[int]) -> dict[int, bytes]:
    """The links of these pages, packed."""
    return {
        page_id: links
        for chunk in chunks(sorted(set(ids)))
        for page_id, links in connection.execute(
            select(page_links.c.page_id, page_links.c.links).where(page_links.c.page_id.in_(chunk))
        )
    }


def links_after(connection: Connection, after: int, limit: int) -> list[tuple[int, str, bytes]]:
    """(page id, URL, links) of the next pages by id that have links."""
    query = (
        select(page_links.c.page_id, pages.c.url, page_links.c.links)
        .join(pages, pages.c.id == page_links.c.page_id)
        .where(page_links.c.page_id > after)
    )
    found = connection.execute(query.order_by(page_links.c.page_id).limit(limit))
    return [(page_id, url, links) for page_id, url, links in found]
