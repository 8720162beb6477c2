"""A difference as lines with marked words, for terminals and pipes.

Text is shown as a unified diff: removed lines with `-`, added lines with `+`. Cells, values, properties and fields of
entries are shown as `name: before → after`. With `merged_lines` both versions of a changed line stand in one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from webstrata.detect.diff.difference import OUTSIDE, Difference, SetDifference
from webstrata.detect.diff.feed import EntryChange, EntryVersion, FeedDifference
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.pairs import LinePair, WordMarker, is_marked, line_pairs
from webstrata.detect.diff.table import Row, TableDifference
from webstrata.detect.diff.text import DiffLine, WordRun
from webstrata.detect.diff.triples import by_subject
from webstrata.wording import counted

_MAX_VALUE = 160
"""Characters of a value that is shown whole; of a longer one, the changed words with some words around them."""
_MAX_EXCERPT = 1_000
_AROUND = 50
"""Characters around changed words."""


class ShownLine(NamedTuple):
    """A line with its sign: equal or neutral (` `), removed (`-`), added (`+`) or a heading (`@`); and its words."""

    sign: Literal[" ", "-", "+", "@"]
    runs: Sequence[WordRun]
    """Marked words have the sign `-` or `+`."""

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


class _Value(NamedTuple):
    """A named value before and after; None if it was added or removed."""

    name: str
    before: str | None
    after: str | None


_Item = LinePair | _Value


def signed_lines(difference: Difference, *, with_words: bool = True) -> Iterator[ShownLine]:
    """Removed and added lines one below the other; without `with_words` no words are marked in them."""
    marker = WordMarker()
    for is_block, items in groupby(_items(difference), lambda item: isinstance(item, LinePair) and item.differs):
        if not is_block:
            for item in items:
                if isinstance(item, _Value):
                    yield from _value_lines(item, marker)
                elif isinstance(item, LinePair):
                    yield _plain("@" if item.heading else " ", item.before or "")
            continue
        pairs = [(pair, _runs(pair, marker, with_words)) for pair in items if isinstance(pair, LinePair)]
        yield from (ShownLine("-", _side(runs, "-")) for pair, runs in pairs if pair.before is not None)
        yield from (ShownLine("+", _side(runs, "+")) for pair, runs in pairs if pair.after is not None)


def merged_lines(difference: Difference) -> Iterator[ShownLine]:
    """Both versions of a changed line in one line, in which the removed and the added words are marked."""
    marker = WordMarker()
    for item in _items(difference):
        if isinstance(item, _Value):
            runs = _value_runs(item, marker)
            yield ShownLine(" ", [WordRun(" ", f"{item.name}: "), *runs])
        elif not item.differs:
            yield _plain("@" if item.heading else " ", item.before or "")
        else:
            runs = marker.runs(item)
            yield from [ShownLine(" ", runs)] if is_marked(runs) else (ShownLine(" ", [run]) for run in runs)


def changed_line_count(difference: Difference) -> int:
    """The number of lines and values that differ."""
    return sum(
        (item.before is not None) + (item.after is not None) if isinstance(item, LinePair) else 1
        for item in _items(difference)
        if isinstance(item, _Value) or item.differs
    )


def _plain(sign: Literal[" ", "-", "+", "@"], text: str) -> ShownLine:
    return ShownLine(sign, [WordRun(" ", text)])


def _runs(pair: LinePair, marker: WordMarker, with_words: bool) -> list[WordRun]:
    return marker.runs(pair if with_words else pair._replace(similar=False))


def _side(runs: Sequence[WordRun], side: Literal["-", "+"]) -> list[WordRun]:
    """One side of a pair; a line that differs as a whole has no marks: its sign says so."""
    shown = [run for run in runs if run.sign in (" ", side)]
    return shown if is_marked(runs) else [WordRun(" ", run.text) for run in shown]


def _value_lines(value: _Value, marker: WordMarker) -> Iterator[ShownLine]:
    name = WordRun(" ", f"{value.name}: ")
    runs = _value_runs(value, marker)
    if value.before is None or value.after is None:
        yield ShownLine("-" if value.after is None else "+", [name, *(WordRun(" ", run.text) for run in runs)])
    elif max(len(value.before), len(value.after)) <= _MAX_VALUE:
        old, new = _both_sides(runs)
        yield ShownLine(" ", [name, *old, WordRun(" ", " → "), *new])
    else:
        yield ShownLine("-", [name, *_side(runs, "-")])
        yield ShownLine("+", [name, *_side(runs, "+")])


def _both_sides(runs: Sequence[WordRun]) -> tuple[list[WordRun], list[WordRun]]:
    return [run for run in runs if run.sign != "+"], [run for run in runs if run.sign != "-"]


def _value_runs(value: _Value, marker: WordMarker) -> list[WordRun]:
    if value.before is None or value.after is None:
        sign: Literal["-", "+"] = "-" if value.after is None else "+"
        return [WordRun(sign, _shortened(value.before or value.after or ""))]
    return excerpt(marker.value_runs(value.before, value.after))


def excerpt(runs: Sequence[WordRun]) -> list[WordRun]:
    """The runs of two long values without the equal words that are far from a changed one; others are unchanged."""
    if sum(len(run.text) for run in runs) <= 2 * _MAX_VALUE:
        return list(runs)
    shown: list[WordRun] = []
    for index, run in enumerate(runs):
        text = run.text
        if run.sign == " " and len(text) > 2 * _AROUND:
            first = text[:_AROUND] if index else ""
            last = text[-_AROUND:] if index < len(runs) - 1 else ""
            text = f"{first}…{last}"
        shown.append(WordRun(run.sign, _shortened(text)))
    return shown


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]}… ({len(text) - _MAX_EXCERPT} more characters)"


# ── the items of a difference, in the order in which they are shown ─────────────────────────────────────────


def _items(difference: Difference) -> Iterator[_Item]:
    if difference.move is not None:
        yield _heading("@@ address: the page moved @@")
        yield _Value(difference.move.name, difference.move.before, difference.move.after)
    if difference.binary is not None:
        yield _equal(difference.binary.sentence)
    if difference.triples is not None:
        yield from _triples(difference.triples)
    if difference.table is not None:
        yield from _table("table", difference.table)
    for name, table in (difference.sheets or {}).items():
        yield from _table(f"sheet {name}", table)
    if difference.json is not None:
        yield from map(_edit, difference.json)
    if difference.feed is not None:
        yield from _feed(difference.feed)
    if difference.attributes:
        yield _heading(f"@@ attributes: {len(difference.attributes)} changed @@")
        yield from (_Value(change.name, change.before, change.after) for change in difference.attributes)
    if not difference.is_data:
        yield from _text(difference.text, difference.before_name, difference.after_name)
        names = (f"{name} ({OUTSIDE})" for name in (difference.before_name, difference.after_name))
        yield from _text(difference.outside, *names)
    if difference.links is not None:
        yield from _links(difference.links)


def _heading(text: str) -> LinePair:
    return LinePair(text, text, differs=False, heading=True)


def _equal(text: str) -> LinePair:
    return LinePair(text, text, differs=False)


def _removed(lines: Iterable[str]) -> Iterator[LinePair]:
    return (LinePair(line, None, differs=True) for line in lines)


def _added(lines: Iterable[str]) -> Iterator[LinePair]:
    return (LinePair(None, line, differs=True) for line in lines)


def _text(lines: Sequence[DiffLine], before_name: str, after_name: str) -> Iterator[LinePair]:
    if lines:
        yield _heading(f"--- {before_name}")
        yield _heading(f"+++ {after_name}")
        yield from line_pairs(lines)


def _links(links: SetDifference) -> Iterator[LinePair]:
    if not links.empty:
        yield _heading(f"@@ links: {links.added_count} added, {links.removed_count} removed @@")
        yield from _removed(links.removed)
        yield from _added(links.added)


def _triples(triples: SetDifference) -> Iterator[_Item]:
    if triples.empty:
        return
    yield _heading(f"@@ triples: {triples.added_count} added, {triples.removed_count} removed @@")
    for subject in by_subject(triples.added, triples.removed):
        yield _equal(subject.subject)
        yield from (_Value(f"  {change.name}", change.before, change.after) for change in subject.properties)


def _table(name: str, table: TableDifference) -> Iterator[_Item]:
    if table.empty:
        return
    yield _heading(f"@@ {name}: {table_summary(table)} @@")
    yield from _removed(f"column {name}" for name in table.columns_removed)
    yield from _added(f"column {name}" for name in table.columns_added)
    yield from (_Value(f"{cell.key} {cell.column}", cell.before, cell.after) for cell in table.cells)
    if table.rows_removed:
        yield _equal(_row(table.columns_before))
        yield from _removed(map(_row, table.rows_removed))
    if table.rows_added:
        yield _equal(_row(table.columns_after))
        yield from _added(map(_row, table.rows_added))


def table_summary(table: TableDifference) -> str:
    """`1 row added, 2 rows removed, 1 cell changed`: what differs, by number."""
    numbers = (
        (table.rows_added_count, "row", "added"),
        (table.rows_removed_count, "row", "removed"),
        (table.cells_count, "cell", "changed"),
        (len(table.columns_added), "column", "added"),
        (len(table.columns_removed), "column", "removed"),
    )
    return ", ".join(f"{counted(number, noun)} {verb}" for number, noun, verb in numbers if number)


def _row(cells: Row) -> str:
    return " | ".join(cells)


def _edit(edit: JsonEdit) -> _Value:
    return _Value(
        edit.path,
        None if edit.change == "added" else json_text(edit.before),
        None if edit.change == "removed" else json_text(edit.after),
    )


def json_text(value: Any) -> str:
    """A JSON value in one line."""
    return json.dumps(value, ensure_ascii=False)


def _feed(feed: FeedDifference) -> Iterator[_Item]:
    if feed.empty:
        return
    yield _heading(f"@@ feed: {feed_summary(feed)} @@")
    yield from _added(map(entry_line, feed.added))
    for entry in feed.changed:
        yield _equal(entry_line(entry))
        yield from (_Value(f"  {field.name}", field.before, field.after) for field in entry.fields)
    yield from _removed(map(entry_line, feed.removed))
    if feed.expired:
        yield _heading(f"@@ no longer in the feed, which shows its latest entries: {feed.expired_count} @@")
        yield from _removed(map(entry_line, feed.expired))


def feed_summary(feed: FeedDifference) -> str:
    """`2 new entries, 1 changed, 1 removed`: what differs, by number."""
    added = counted(feed.added_count, "new entry", "new entries")
    summary = f"{added}, {feed.changed_count} changed, {feed.removed_count} removed"
    return f"{summary}, {feed.expired_count} left at its end" if feed.expired_count else summary


def entry_line(entry: EntryVersion | EntryChange) -> str:
    """Title, link and time of an entry in one line."""
    return " ".join(filter(None, (entry.title or "(without a title)", entry.link and f"<{entry.link}>", entry.updated)))
