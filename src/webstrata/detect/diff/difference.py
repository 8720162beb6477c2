"""The difference of two versions of a content, in every form in which both can be parsed.

Forms are text, links, RDF triples, tables and JSON documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from webstrata.detect.diff.json import JsonEdit, json_difference
from webstrata.detect.diff.table import Row, TableDifference, table_difference
from webstrata.detect.diff.text import unified

_MAX_LISTED = 10_000


class SetDifference(Struct, frozen=True, kw_only=True):
    """Added and removed strings, sorted. Each list has at most 10,000 entries; the counts cover all."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added_count: int = 0
    removed_count: int = 0


def set_difference(before: Iterable[str], after: Iterable[str]) -> SetDifference:
    """Compare two sets of strings: links or triples."""
    old, new = set(before), set(after)
    added, removed = sorted(new - old), sorted(old - new)
    return SetDifference(
        added=tuple(added[:_MAX_LISTED]),
        removed=tuple(removed[:_MAX_LISTED]),
        added_count=len(added),
        removed_count=len(removed),
    )


class ParsedVersion(Struct, frozen=True, kw_only=True):
    """One version in all forms in which it could be parsed."""

    text: str
    """Useful text in lines, or the source text."""
    links: tuple[str, ...] | None = None
    triples: tuple[str, ...] | None = None
    """Canonical N-Quads lines; blank nodes have canonical labels."""
    table: Sequence[Row] | None = None
    document: Any | UnsetType = UNSET
    """A JSON value, which may be null; UNSET if the content is not JSON."""


class Difference(Struct, frozen=True, kw_only=True):
    """The difference of two versions. A form that only one version has is None."""

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
        """Whether no form differs."""
        return not (
            self.unified
            or self.json
            or any(members.added or members.removed for members in (self.links, self.triples) if members is not None)
            or (self.table is not None and self.table != TableDifference(key=self.table.key))
        )


def difference(before: ParsedVersion, after: ParsedVersion, *, before_name: str, after_name: str) -> Difference:
    """Compare two versions in all forms that both have."""
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
