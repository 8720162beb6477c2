"""Divides a difference into what counts and what is learned noise, line by line and value by value.

| form | what is noise |
|---|---|
| text | a removed or added line whose differing runs are all in learned places |
| links, attributes | those in learned places |
| JSON, triples | values of learned fields: paths, predicates |
| tables | cells in learned columns, if rows can be identified |

All other differences count: entries of feeds, sheets, binary contents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import loads
from typing import Any, NamedTuple

from msgspec.structs import replace

from webstrata.detect.diff.difference import Difference, SetDifference
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.table import TableDifference
from webstrata.detect.diff.text import DiffLine, hunk_heading

_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
_START = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class NoiseFilter(NamedTuple):
    """What is noise in two versions of a page."""

    is_removed_line: Callable[[str], bool]
    """Whether a line that only the old version has is noise."""
    is_added_line: Callable[[str], bool]
    links: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    """Names, as the difference has them."""
    fields: frozenset[str] = frozenset()
    """Names of the fields of data, with all members of a list together: `items[].viewed`."""


def divided(found: Difference, noise: NoiseFilter) -> Difference:
    """The difference without noise, which is a difference of its own in `noise`."""
    counted, hidden = _part(found, noise, is_noise=False), _part(found, noise, is_noise=True)
    return found if hidden.empty else replace(counted, noise=replace(hidden, move=None, binary=None))


def _part(found: Difference, noise: NoiseFilter, *, is_noise: bool) -> Difference:
    """The part of a difference that is noise, or the part that is not."""
    return replace(
        found,
        move=None if is_noise else found.move,
        text=_lines(found.text, noise, is_noise=is_noise) if not found.is_data else () if is_noise else found.text,
        outside=_lines(found.outside, noise, is_noise=is_noise),
        attributes=tuple(one for one in found.attributes if (one.name in noise.attributes) is is_noise),
        links=_set(found.links, lambda link: (link in noise.links) is is_noise),
        triples=_set(found.triples, lambda triple: (_predicate(triple) in noise.fields) is is_noise),
        json=None
        if found.json is None
        else tuple(edit for edit in found.json if _is_noisy_edit(edit, noise.fields) is is_noise),
        table=None if found.table is None else _table(found.table, noise.fields, is_noise=is_noise),
        feed=None if is_noise else found.feed,
        sheets=None if is_noise else found.sheets,
        binary=None if is_noise else found.binary,
    )


def _set(found: SetDifference | None, is_kept: Callable[[str], bool]) -> SetDifference | None:
    if found is None:
        return None
    added, removed = (tuple(filter(is_kept, side)) for side in (found.added, found.removed))
    return SetDifference(
        added=added,
        removed=removed,
        added_count=found.added_count - len(found.added) + len(added),
        removed_count=found.removed_count - len(found.removed) + len(removed),
    )


def _predicate(triple: str) -> str:
    return triple.split(" ", 2)[1] if triple.count(" ") > 1 else ""


def _table(table: TableDifference, columns: frozenset[str], *, is_noise: bool) -> TableDifference:
    cells = tuple(cell for cell in table.cells if (cell.column in columns) is is_noise)
    if is_noise:
        return TableDifference(
            key=table.key,
            columns_before=table.columns_before,
            columns_after=table.columns_after,
            cells=cells,
            cells_count=len(cells),
        )
    return replace(table, cells=cells, cells_count=table.cells_count - len(table.cells) + len(cells))


# ── lines of text ───────────────────────────────────────────────────────────────────────────────────────────


def _lines(lines: Sequence[DiffLine], noise: NoiseFilter, *, is_noise: bool) -> tuple[DiffLine, ...]:
    """The hunks with only the changed lines that are noise, or only those that are not."""
    kept: list[DiffLine] = []
    for hunk in _hunks(lines):
        shown = [line for line in hunk[1:] if line.sign == " " or _is_noisy_line(line, noise) is is_noise]
        if any(line.sign != " " for line in shown):
            kept += [_heading(hunk[0], shown), *shown]
    return tuple(kept)


def _hunks(lines: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    hunk: list[DiffLine] = []
    for line in lines:
        if line.sign == "@" and hunk:
            yield hunk
            hunk = []
        hunk.append(line)
    if hunk:
        yield hunk


def _heading(heading: DiffLine, shown: Sequence[DiffLine]) -> DiffLine:
    """The heading of a hunk of which only some lines are shown."""
    start = _START.match(heading.text)
    if start is None:
        return heading
    old, new = (sum(line.sign != other for line in shown) for other in "+-")
    return hunk_heading(int(start[1]), old, int(start[2]), new)


def _is_noisy_line(line: DiffLine, noise: NoiseFilter) -> bool:
    return noise.is_removed_line(line.text) if line.sign == "-" else noise.is_added_line(line.text)


# ── values of JSON ──────────────────────────────────────────────────────────────────────────────────────────


def _is_noisy_edit(edit: JsonEdit, fields: frozenset[str]) -> bool:
    """Whether all values that were added, removed or changed belong to learned fields."""
    if not fields:
        return False
    name = field_name(edit.path)
    values = [] if edit.change == "added" else [edit.before]
    values += [] if edit.change == "removed" else [edit.after]
    return all(leaf in fields for value in values for leaf in _leaf_names(value, name))


def field_name(path: str) -> str:
    """The field to which the value of a JSONPath belongs: `$.items[3].viewed` to `items[].viewed`."""
    name = ""
    for member, number, quoted in _STEP.findall(path.removeprefix("$")):
        if number:
            name += "[]"
        else:
            key = loads(quoted) if quoted else member
            name = f"{name}.{key}" if name else key
    return name


def _leaf_names(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaf_names(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _leaf_names(inner, f"{name}[]")
    else:
        yield name or "$"
