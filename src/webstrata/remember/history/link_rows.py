"""The links of a page as a row of the store.

A row holds the number of links (four bytes), their hashes, which no compression makes smaller, then their kinds and
times: of a page that never got another link one time, else those of all links, compressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import COPY_LINK, LINK, SEEN_LINK

MAX_LINKS = 20_000
"""Links that are kept of a page: the earliest ones."""

SeenLinks = NDArray[np.void]
"""Rows of `SEEN_LINK`, sorted by link, each link once."""


def with_contents(stored: bytes | None, contents: Sequence[tuple[float, bytes]]) -> bytes:
    """A row with the links of these contents, too: (time, packed rows of `COPY_LINK`)."""
    found = [_seen(packed, at) for at, packed in contents]
    every = found if stored is None else [unpacked(stored), *found]
    # The rows of one content are sorted already, each link once.
    return _packed(every[0][:MAX_LINKS] if len(every) == 1 else _earliest(np.concatenate(every)))


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


_ONE_TIME, _COMPRESSED = b"\0", b"\1"


def _packed(links: SeenLinks) -> bytes:
    values, kinds, times = links["value"].tobytes(), links["kind"].tobytes(), links["first_at"]
    head = len(links).to_bytes(4, "little") + values
    if (times == times[:1]).all():  # as on most pages; compressing takes a quarter of the time of storing the facts
        return head + _ONE_TIME + kinds + times[:1].tobytes()
    return head + _COMPRESSED + zlib.compress(kinds + times.tobytes(), 1)


def unpacked(stored: bytes) -> SeenLinks:
    """The links of a row."""
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
