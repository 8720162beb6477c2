"""The links that were ever seen on pages, each with the time of the first content that has it.

The order of imports does not matter: of two contents with a link, the earlier one is the first.

A row holds the number of links (four bytes), their hashes, which no compression makes smaller, then their kinds and
times: of a page that never got another link one time, else those of all links, compressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from webstrata.columns import COPY_LINK, LINK, SEEN_LINK
from webstrata.remember import statements
from webstrata.remember.statements import chunks, execute_among
from webstrata.remember.tables import page_links, pages

MAX_LINKS = 20_000
"""Links that are kept of a page: the earliest ones."""

SeenLinks = NDArray[np.void]
"""Rows of `SEEN_LINK`, sorted by link, each link once."""


def add_links(connection: Connection, found: Sequence[tuple[int, float, bytes]]) -> None:
    """Add the links of contents: (page id, time, packed rows of `COPY_LINK`). The transaction has locked the pages:
    two writers would each lose the links that the other one adds."""
    by_page: dict[int, list[SeenLinks]] = {}
    for page_id, at, packed in found:
        by_page.setdefault(page_id, []).append(_seen(packed, at))
    before = dict(_rows(connection, list(by_page)))
    rows: list[dict[str, Any]] = []
    for page_id, seen in by_page.items():
        stored = before.get(page_id)
        contents = seen if stored is None else [unpacked(stored), *seen]
        # The rows of one content are sorted already, each link once.
        merged = contents[0][:MAX_LINKS] if len(contents) == 1 else _earliest(np.concatenate(contents))
        packed = _packed(merged)
        if packed != stored:
            rows.append({"page_id": page_id, "links": packed})
    statements.put(connection, page_links, "page_id", rows)


def _seen(packed: bytes, at: float) -> SeenLinks:
    links = np.frombuffer(packed, dtype=COPY_LINK)
    seen = np.empty(len(links), dtype=SEEN_LINK)
    seen["value"], seen["kind"], seen["first_at"] = links["value"], links["kind"], at
    return seen


def _earliest(links: SeenLinks) -> SeenLinks:
    """Each link once, with its earliest time, sorted by link."""
    ordered = links[np.lexsort((links["kind"], links["first_at"], links["value"]))]
    is_first = np.ones(len(ordered), dtype=bool)
    is_first[1:] = ordered["value"][1:] != ordered["value"][:-1]
    unique = ordered[is_first]
    if len(unique) > MAX_LINKS:
        kept = np.sort(np.argsort(unique["first_at"], kind="stable")[:MAX_LINKS])
        unique = unique[kept]
    return unique


# ── rows of the table ───────────────────────────────────────────────────────────────────────────────────────


_ONE_TIME, _COMPRESSED = b"\0", b"\1"


def _packed(links: SeenLinks) -> bytes:
    values, kinds, times = links["value"].tobytes(), links["kind"].tobytes(), links["first_at"]
    head = len(links).to_bytes(4, "little") + values
    if (times == times[:1]).all():  # as on most pages; compressing takes a quarter of the time of storing the facts
        return head + _ONE_TIME + kinds + times[:1].tobytes()
    return head + _COMPRESSED + zlib.compress(kinds + times.tobytes(), 1)


def unpacked(stored: bytes) -> SeenLinks:
    """The links of a row of the table."""
    number = int.from_bytes(stored[:4], "little")
    end = 4 + LINK.itemsize * number
    form, rest = stored[end : end + 1], stored[end + 1 :]
    if form == _COMPRESSED:
        rest = zlib.decompress(rest)
    links = np.empty(number, dtype=SEEN_LINK)
    links["value"] = np.frombuffer(stored[4:end], dtype=LINK)
    links["kind"] = np.frombuffer(rest[:number], dtype=COPY_LINK["kind"])
    links["first_at"] = np.frombuffer(rest[number:], dtype=SEEN_LINK["first_at"])
    return links


def links_of(connection: Connection, ids: Sequence[int]) -> dict[int, bytes]:
    """The links of these pages, packed."""
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
    query = (
        select(page_links.c.page_id, pages.c.url, page_links.c.links)
        .join(pages, pages.c.id == page_links.c.page_id)
        .where(page_links.c.page_id > after)
    )
    found = connection.execute(query.order_by(page_links.c.page_id).limit(limit))
    return [(page_id, url, unpacked(bytes(links)).tobytes()) for page_id, url, links in found]
