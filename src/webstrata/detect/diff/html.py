"""A difference as sections of HTML: text side by side, tables, values, triples, entries, links, and pictures.

All content is escaped. Changed words are marked with `del` and `ins`. `html_page.py` makes pages of the sections.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import NamedTuple, TypeVar

from webstrata.detect.diff.binary import BinaryDifference, Picture
from webstrata.detect.diff.difference import OUTSIDE, Difference, SetDifference
from webstrata.detect.diff.feed import EntryVersion, FeedDifference
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.lines import changed_line_count, excerpt, feed_summary, json_text, table_summary
from webstrata.detect.diff.pairs import LinePair, WordMarker, line_pairs
from webstrata.detect.diff.table import Row, TableDifference
from webstrata.detect.diff.text import DiffLine, WordRun
from webstrata.detect.diff.triples import by_subject
from webstrata.wording import counted

T = TypeVar("T")

_LAST_STEP = re.compile(r"^(.*?)(\.\w+|\[[^\[\]]*\])$", re.DOTALL)
"""A JSONPath without its last step, and this step."""


class HtmlDifference:
    """The sections of one difference; at most `max_rows` rows in each table or list."""

    def __init__(self, difference: Difference, *, max_rows: int | None = None) -> None:
        self._difference = difference
        self._max_rows = max_rows
        self._marker = WordMarker()

    def sections(self) -> Iterator[str]:
        """The HTML of each form in which the versions differ; nothing if there is no difference."""
        shown = self._difference
        if shown.move is not None:
            moved = _NamedValue(shown.move.name, shown.move.before, shown.move.after)
            yield f"<h3>The page moved</h3>{self._values('of the content', [_ValueGroup('', [moved])])}"
        if shown.binary is not None:
            yield from _binary(shown.binary)
        if shown.table is not None and not shown.table.empty:
            yield from self._table("Table", shown.table)
        for name, table in (shown.sheets or {}).items():
            yield from self._table(f"Sheet {name}", table)
        if shown.json:
            yield f"<h3>Values ({len(shown.json)})</h3>"
            yield self._values("path", _by_parent(shown.json))
        if shown.triples is not None and not shown.triples.empty:
            yield f"<h3>Triples: {shown.triples.added_count} added, {shown.triples.removed_count} removed</h3>"
            yield self._values("property", _by_property(shown.triples))
        if shown.feed is not None and not shown.feed.empty:
            yield from self._feed(shown.feed)
        if shown.attributes:
            yield "<h3>Attributes</h3>"
            values = [_NamedValue(change.name, change.before, change.after) for change in shown.attributes]
            yield self._values("attribute", [_ValueGroup("", values)])
        if not shown.is_data:
            yield from self._texts(shown)
        if shown.links is not None and not shown.links.empty:
            yield f"<h3>Links: {shown.links.added_count} added, {shown.links.removed_count} removed</h3>"
            yield self._list("del", shown.links.removed) + self._list("add", shown.links.added)
        if shown.noise is not None:
            lines = counted(changed_line_count(shown.noise), "line")
            summary = f"<summary>Learned noise, which does not count: {lines}</summary>"
            sections = "\n".join(HtmlDifference(shown.noise, max_rows=self._max_rows).sections())
            yield f'<details class="noise"{" open" if shown.empty else ""}>{summary}{sections}</details>'

    def _texts(self, shown: Difference) -> Iterator[str]:
        if shown.text:
            yield f"<h3>Text</h3>{self._side_by_side(shown.text)}"
        if shown.outside:
            count = sum(line.sign in "+-" for line in shown.outside)
            summary = f"<summary>{OUTSIDE.capitalize()} (menus, header, footer): {counted(count, 'line')}</summary>"
            yield f"<details{'' if shown.text else ' open'}>{summary}{self._side_by_side(shown.outside)}</details>"

    def _side_by_side(self, lines: Sequence[DiffLine]) -> str:
        return f'<table class="sides">\n{self._rows(line_pairs(lines), self._pair, columns=2)}</table>'

    def _pair(self, pair: LinePair) -> str:
        if pair.heading:
            return f'<tr><td class="at" colspan="2">{escape(pair.before or "")}</td></tr>\n'
        if not pair.differs:
            line = escape(pair.before or "")
            return f'<tr class="same"><td>{line}</td><td>{line}</td></tr>\n'
        runs = self._marker.runs(pair)
        before = None if pair.before is None else _marked(runs, "-")
        after = None if pair.after is None else _marked(runs, "+")
        return f"<tr>{_cell('del', before)}{_cell('add', after)}</tr>\n"

    def _rows(self, items: Iterable[T], row: Callable[[T], str], *, columns: int) -> str:
        """The first rows, and the number of those that are left out."""
        remaining = iter(items)
        rows = "".join(map(row, islice(remaining, self._max_rows)))
        rest = sum(1 for _ in remaining)
        return rows + (f'<tr><td class="at" colspan="{columns}">… {rest} more</td></tr>\n' if rest else "")

    def _values(self, name: str, groups: Iterable[_ValueGroup]) -> str:
        head = f"<tr><th>{name}</th><th>before</th><th>after</th></tr>\n"
        return f'<table class="values">\n{head}{self._rows(_flat(groups), self._value, columns=3)}</table>'

    def _value(self, value: _NamedValue | str) -> str:
        if isinstance(value, str):
            return f'<tr><td class="at" colspan="3">{escape(value)}</td></tr>\n'
        before = after = None
        if value.before is not None and value.after is not None:
            runs = excerpt(self._marker.value_runs(value.before, value.after))
            before, after = _marked(runs, "-"), _marked(runs, "+")
        else:
            before = None if value.before is None else escape(value.before)
            after = None if value.after is None else escape(value.after)
        return f"<tr><td>{escape(value.name)}</td>{_cell('del', before)}{_cell('add', after)}</tr>\n"

    def _table(self, name: str, table: TableDifference) -> Iterator[str]:
        by = "all their cells" if table.key is None else f"the column {table.key}"
        yield f"<h3>{escape(name)}</h3><p>{table_summary(table)} (rows are identified by {escape(by)})</p>"
        columns = (("removed", table.columns_removed), ("added", table.columns_added))
        yield "".join(f"<p>Columns {verb}: {escape(', '.join(names))}</p>" for verb, names in columns if names)
        if table.cells:
            groups: dict[str, list[_NamedValue]] = {}
            for cell in table.cells:
                groups.setdefault(cell.key, []).append(_NamedValue(cell.column, cell.before, cell.after))
            yield self._values("column", (_ValueGroup(f"{table.key}: {key}", values) for key, values in groups.items()))
        yield self._whole_rows("del", "removed", table.columns_before, table.rows_removed)
        yield self._whole_rows("add", "added", table.columns_after, table.rows_added)

    def _whole_rows(self, kind: str, verb: str, columns: Row, rows: Sequence[Row]) -> str:
        if not rows:
            return ""
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = self._rows(
            rows,
            lambda row: f'<tr class="{kind}">{"".join(f"<td>{escape(cell)}</td>" for cell in row)}</tr>\n',
            columns=max(1, len(columns)),
        )
        return f'<p>Rows {verb}:</p>\n<div class="wide"><table class="rows"><tr>{head}</tr>\n{body}</table></div>'

    def _feed(self, feed: FeedDifference) -> Iterator[str]:
        yield f"<h3>Entries</h3><p>{feed_summary(feed)}</p>"
        yield self._entries("add", feed.added)
        if feed.changed:
            yield self._values(
                "field",
                (
                    _ValueGroup(
                        " ".join(filter(None, (entry.title or "(without a title)", entry.link))),
                        [_NamedValue(field.name, field.before, field.after) for field in entry.fields],
                    )
                    for entry in feed.changed
                ),
            )
        yield self._entries("del", feed.removed)
        if feed.expired:
            yield "<p>No longer in the feed, which shows its latest entries:</p>"
            yield self._entries("del", feed.expired)

    def _entries(self, kind: str, entries: Sequence[EntryVersion]) -> str:
        if not entries:
            return ""
        rows = self._rows(
            entries,
            lambda entry: (
                f'<tr class="{kind}"><td>{_sign(kind)} {escape(entry.title or "(without a title)")}</td>'
                f"<td>{escape(entry.link)}</td><td>{escape(entry.updated)}</td></tr>\n"
            ),
            columns=3,
        )
        return f'<table class="entries">\n{rows}</table>'

    def _list(self, kind: str, items: Sequence[str]) -> str:
        rows = "".join(
            f'<li class="{kind}">{_sign(kind)} {escape(item)}</li>\n' for item in islice(items, self._max_rows)
        )
        rest = len(items) - len(items[: self._max_rows])
        more = f'<li class="at">… {rest} more</li>\n' if rest else ""
        return f"<ul>\n{rows}{more}</ul>" if items else ""


class _NamedValue(NamedTuple):
    name: str
    before: str | None
    after: str | None


class _ValueGroup(NamedTuple):
    """Values that belong together: the members of an object, the properties of a subject, the cells of a row."""

    heading: str
    values: list[_NamedValue]


def _flat(groups: Iterable[_ValueGroup]) -> Iterator[_NamedValue | str]:
    """Each heading, followed by its values."""
    for group in groups:
        if group.heading:
            yield group.heading
        yield from group.values


def _by_parent(edits: Iterable[JsonEdit]) -> Iterator[_ValueGroup]:
    """The edits of one object or array after another, in their order."""
    current: _ValueGroup | None = None
    for edit in edits:
        step = _LAST_STEP.match(edit.path)
        parent, name = (step[1], step[2].removeprefix(".")) if step else (edit.path, "")
        value = _NamedValue(
            name,
            None if edit.change == "added" else json_text(edit.before),
            None if edit.change == "removed" else json_text(edit.after),
        )
        if current is not None and current.heading == parent:
            current.values.append(value)
            continue
        if current is not None:
            yield current
        current = _ValueGroup(parent, [value])
    if current is not None:
        yield current


def _by_property(triples: SetDifference) -> Iterator[_ValueGroup]:
    for subject in by_subject(triples.added, triples.removed):
        values = [_NamedValue(change.name, change.before, change.after) for change in subject.properties]
        yield _ValueGroup(subject.subject, values)


def _sign(kind: str) -> str:
    return "\N{MINUS SIGN}" if kind == "del" else "+"


def _cell(kind: str, html: str | None) -> str:
    return "<td></td>" if html is None else f'<td class="{kind}">{html}</td>'


def _marked(runs: Sequence[WordRun], side: str) -> str:
    """One side of a pair with its changed words marked. A line that differs as a whole has no marks."""
    is_whole = all(run.sign != " " for run in runs)
    tag = "" if is_whole else "del" if side == "-" else "ins"
    texts = ((run.sign, escape(run.text)) for run in runs if run.sign in (" ", side))
    return "".join(f"<{tag}>{text}</{tag}>" if tag and sign == side else text for sign, text in texts)


def _binary(binary: BinaryDifference) -> Iterator[str]:
    yield f"<h3>Content</h3><p>{escape(binary.sentence)}</p>"
    if binary.pictures is not None:
        pictures = zip(("before", "after"), binary.pictures, (binary.before, binary.after), strict=True)
        figures = "".join(_figure(when, picture, text) for when, picture, text in pictures)
        yield f'<div class="pictures">\n{figures}</div>'


def _figure(when: str, picture: Picture, description: str) -> str:
    """A picture in an `img` element, in which no script runs and nothing is loaded, also if it is an SVG image."""
    data = b64encode(picture.body).decode()
    alt = escape(f"{when}: {description}")
    image = f'<img src="data:{picture.media_type};base64,{data}" alt="{alt}">'
    return f"<figure>{image}<figcaption>{alt}</figcaption></figure>\n"
