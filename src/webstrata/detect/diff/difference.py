"""The difference of two sets of strings: links, triples, entries.

What differs between two contents, in every way that their format can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from webstrata.detect.diff.json import JsonEdit, json_difference
from webstrata.detect.diff.table import Row, TableDifference, table_difference
from webstrata.detect.diff.text import unified

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


class ParsedVersion(Struct, frozen=True, kw_only=True):
    """One version, as far as it could be read."""

    text: str
    """Useful text in lines, or the source."""
    links: tuple[str, ...] | None = None
    triples: tuple[str, ...] | None = None
    """Canonical N-Quads lines, blank nodes named by what they are."""
    table: Sequence[Row] | None = None
    document: Any | UnsetType = UNSET
    """A JSON value."""


class Difference(Struct, frozen=True, kw_only=True):
    """Only the ways that both versions can be read are set."""

    before: str
    after: str
    """The texts compared."""
    unified: str
    links: SetDifference | None = None
    triples: SetDifference | None = None
    table: TableDifference | None = None
    json: tuple[JsonEdit, ...] | None = None

    @property
    def empty(self) -> bool:
        """Nothing differs, whichever way it is read."""
        return not (
            self.unified
            or self.json
            or any(found.added or found.removed for found in (self.links, self.triples) if found is not None)
            or (self.table is not None and self.table != TableDifference(key=self.table.key))
        )


def difference(before: ParsedVersion, after: ParsedVersion, *, before_name: str, after_name: str) -> Difference:
    """Compare two versions in all the ways that both can be read."""
    links = triples = table = edits = None
    if before.links is not None and after.links is not None:
        links = set_difference(before.links, after.links)
    if before.triples is not None and after.triples is not None:
        triples = set_difference(before.triples, after.triples)
    if before.table is not None and after.table is not None:
        table = table_difference(before.table, after.table)
    if before.document is not UNSET and after.document is not UNSET:
        edits = tuple(json_difference(before.document, after.document))
    return Difference(
        before=before.text,
        after=after.text,
        unified=unified(before.text, after.text, before_name=before_name, after_name=after_name),
        links=links,
        triples=triples,
        table=table,
        json=edits,
    )
