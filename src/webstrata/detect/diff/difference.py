"""The difference of two versions of a content, in every form in which both can be parsed.

Forms are text, links, triples, tables, sheets, JSON documents, feeds, and descriptions of binary contents. The text
of a page is compared in two sections: its main content, and what surrounds it (menus, header, footer).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from webstrata.detect.diff.binary import BinaryContent, BinaryDifference, binary_difference
from webstrata.detect.diff.feed import EntryVersion, FeedDifference, FieldChange, feed_difference
from webstrata.detect.diff.json import JsonEdit, json_difference
from webstrata.detect.diff.table import Row, TableDifference, table_difference
from webstrata.detect.diff.text import DiffLine, diff_lines, unified

_MAX_LISTED = 10_000


class SetDifference(Struct, frozen=True, kw_only=True):
    """Added and removed strings, sorted. Each list has at most 10,000 entries; the counts cover all."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added_count: int = 0
    removed_count: int = 0

    @property
    def empty(self) -> bool:
        return not (self.added or self.removed)


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

    text: str = ""
    """The main content in lines, or the source text."""
    outside: str = ""
    """The text of a page outside its main content."""
    attributes: Mapping[str, str] | None = None
    """What a page states outside its text, by name: products, directives, and others that its rules count."""
    links: tuple[str, ...] | None = None
    triples: tuple[str, ...] | None = None
    """Canonical N-Quads lines; blank nodes have canonical labels."""
    table: Sequence[Row] | None = None
    document: Any | UnsetType = UNSET
    """A JSON value, which may be null; UNSET if the content is not JSON."""
    entries: tuple[EntryVersion, ...] | None = None
    """The entries of a feed."""
    sheets: Mapping[str, Sequence[Row]] | None = None
    """The tables of a spreadsheet by the names of their sheets."""
    binary: BinaryContent | None = None
    """Set if the content is not text, or is an image that has a source text."""


class Difference(Struct, frozen=True, kw_only=True):
    """The difference of two versions. A form that only one version has is None."""

    before_name: str
    after_name: str
    move: FieldChange | None = None
    """The final URLs of both versions, if the page redirects to another address than before."""
    text: tuple[DiffLine, ...] = ()
    """Hunks of the main content, or of the source of data."""
    outside: tuple[DiffLine, ...] = ()
    """Hunks of the text outside the main content."""
    attributes: tuple[FieldChange, ...] = ()
    links: SetDifference | None = None
    triples: SetDifference | None = None
    table: TableDifference | None = None
    json: tuple[JsonEdit, ...] | None = None
    feed: FeedDifference | None = None
    sheets: dict[str, TableDifference] | None = None
    """By name, only sheets that differ."""
    binary: BinaryDifference | None = None
    """Set if both contents are not text, or are images."""
    noise: Difference | None = None
    """What differs in places that are learned as noise; it is not in the other fields, and does not count."""

    @property
    def is_data(self) -> bool:
        """Whether the contents are data, whose values say more than the lines of their source."""
        return any(form is not None for form in (self.triples, self.table, self.json, self.feed, self.sheets))

    @property
    def unified(self) -> str:
        """The main content, or the source, as a unified diff."""
        return unified(self.text, before_name=self.before_name, after_name=self.after_name)

    @property
    def outside_unified(self) -> str:
        """The text outside the main content as a unified diff."""
        names = (f"{name} ({OUTSIDE})" for name in (self.before_name, self.after_name))
        return unified(self.outside, before_name=next(names), after_name=next(names))

    @property
    def empty(self) -> bool:
        """Whether no form differs, apart from learned noise."""
        forms = (self.links, self.triples, self.table, self.feed)
        is_equal = all(form is None or form.empty for form in forms) and not self.json and self.binary is None
        return is_equal and not (self.text or self.outside or self.sheets or self.attributes or self.move)

    def with_text_of_data(self, *, differs: bool) -> Difference:
        """For data whose values are equal in every form: only the lines of the source, or nothing.

        `differs`: the data differ all the same, as in the order of the rows of a table.
        """
        forms = (self.triples, self.table, self.feed)
        if not self.is_data or self.json or self.sheets or not all(form is None or form.empty for form in forms):
            return self
        text = self.text if differs else ()
        return replace(self, text=text, triples=None, table=None, json=None, feed=None, sheets=None)


OUTSIDE = "outside the main content"


def difference(
    before: ParsedVersion, after: ParsedVersion, *, before_name: str, after_name: str, pixels: float | None = None
) -> Difference:
    """Compare two versions in all forms that both have. `pixels`: the share of pixels that differ."""
    links = triples = table = edits = feed = sheets = binary = None
    if before.links is not None and after.links is not None:
        links = set_difference(before.links, after.links)
    if before.triples is not None and after.triples is not None:
        triples = set_difference(before.triples, after.triples)
    if before.table is not None and after.table is not None:
        table = table_difference(before.table, after.table)
    if before.document is not UNSET and after.document is not UNSET:
        edits = tuple(json_difference(before.document, after.document))
    if before.entries is not None and after.entries is not None:
        feed = feed_difference(before.entries, after.entries)
    if before.sheets is not None and after.sheets is not None:
        sheets = _sheets(before.sheets, after.sheets)
    if before.binary is not None and after.binary is not None:
        binary = binary_difference(before.binary, after.binary, pixels)
    return Difference(
        before_name=before_name,
        after_name=after_name,
        text=tuple(diff_lines(before.text, after.text)),
        outside=tuple(diff_lines(before.outside, after.outside)),
        attributes=_attributes(before.attributes or {}, after.attributes or {}),
        links=links,
        triples=triples,
        table=table,
        json=edits,
        feed=feed,
        sheets=sheets,
        binary=binary,
    )


def _attributes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FieldChange, ...]:
    """The attributes that differ, in the order of the old version, then the new ones."""
    values = ((name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after]))
    return tuple(FieldChange(name=name, before=old, after=new) for name, old, new in values if old != new)


def _sheets(before: Mapping[str, Sequence[Row]], after: Mapping[str, Sequence[Row]]) -> dict[str, TableDifference]:
    """Compare sheets of the same name; a new or removed sheet is compared with an empty one."""
    names = dict.fromkeys([*before, *after])
    compared = ((name, table_difference(before.get(name, ()), after.get(name, ()))) for name in names)
    return {name: found for name, found in compared if not found.empty}
