"""The difference of two sets of strings: links, triples, entries."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

_MOST = 10_000


class SetDifference(Struct, frozen=True, kw_only=True):
    """What came and what went, in order; beyond the first ten thousand only counted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added_count: int = 0
    removed_count: int = 0


def set_difference(before: Iterable[str], after: Iterable[str]) -> SetDifference:
    old, new = set(before), set(after)
    added, removed = sorted(new - old), sorted(old - new)
    return SetDifference(
        added=tuple(added[:_MOST]),
        removed=tuple(removed[:_MOST]),
        added_count=len(added),
        removed_count=len(removed),
    )
