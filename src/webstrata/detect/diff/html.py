"""A difference as one self-contained HTML page: text side by side, then tables, JSON values, triples and links.

All content is escaped, and the content security policy of the page forbids scripts and requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from itertools import zip_longest
from typing import NamedTuple

from webstrata.detect.diff.difference import Difference, SetDifference
from webstrata.detect.diff.json import JsonEdit
from webstrata.detect.diff.table import TableDifference
from webstrata.detect.diff.text import diff_lines, word_diff


class LinePair(NamedTuple):
    """A line of the old text and its counterpart in the new one; None if one side has no counterpart."""

    before: str | None
    after: str | None
    differs: bool
    heading: bool = False
    """The row is the heading of a hunk, not a line of the texts."""


def side_by_side(before: str, after: str) -> Iterator[LinePair]:
    """The hunks of the difference as pairs of lines: removed lines are paired with the lines that replaced them."""
    removed: list[str] = []
    added: list[str] = []
    for line in diff_lines(before, after):
        if line.sign == "-":
            removed.append(line.text)
        elif line.sign == "+":
            added.append(line.text)
        else:
            yield from _replaced(removed, added)
            removed, added = [], []
            yield LinePair(line.text, line.text, differs=False, heading=line.sign == "@")
    yield from _replaced(removed, added)


def _replaced(removed: list[str], added: list[str]) -> Iterator[LinePair]:
    for old, new in zip_longest(removed, added):
        yield LinePair(old, new, differs=True)


_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.2rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:1.6rem 0 .4rem}
p{color:GrayText;margin:.3rem 0}
table{font:13px/1.5 ui-monospace,monospace;border-collapse:collapse;width:100%;table-layout:fixed}
td,th{padding:.1rem .6rem;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top;text-align:left;
border:1px solid #8883}
.at{background:#8882;color:GrayText}
.del{background:#f852492e}
.add{background:#2ea04333}
del{background:#f8524955;text-decoration:none}
ins{background:#2ea04366;text-decoration:none}
ul{font:13px/1.5 ui-monospace,monospace;padding-left:0;list-style:none;margin:0}
li{padding:0 .6rem;overflow-wrap:anywhere}
""".strip()


def as_html(difference: Difference, *, title: str, before_name: str, after_name: str) -> str:
    """The HTML page of a difference; changed words are marked."""
    sections = "\n".join(_sections(difference)) or "<p>No difference.</p>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(before_name)} → {escape(after_name)}</p>
{sections}
</body>
</html>
"""


def _sections(difference: Difference) -> Iterator[str]:
    if difference.unified:
        yield "<h2>Text</h2>"
        yield _rows("".join(map(_pair, side_by_side(difference.before, difference.after))))
    if difference.table is not None:
        yield from _table(difference.table)
    if difference.json:
        yield f"<h2>Values ({len(difference.json)})</h2>" + _rows("".join(map(_edit, difference.json)))
    for name, members in (("Triples", difference.triples), ("Links", difference.links)):
        if members is not None and (members.added or members.removed):
            yield _members(name, members)


def _rows(rows: str) -> str:
    return f"<table>\n{rows}</table>"


def _pair(pair: LinePair) -> str:
    if pair.heading:
        return f'<tr><td class="at" colspan="2">{escape(pair.before or "")}</td></tr>\n'
    if not pair.differs:
        return f"<tr><td>{escape(pair.before or '')}</td><td>{escape(pair.after or '')}</td></tr>\n"
    before, after = _words(pair.before, pair.after)
    return f"<tr>{_cell('del', before)}{_cell('add', after)}</tr>\n"


def _cell(kind: str, html: str | None) -> str:
    return "<td></td>" if html is None else f'<td class="{kind}">{html}</td>'


def _words(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Both lines as HTML with the changed words marked; a line without a counterpart has no marks."""
    if before is None or after is None:
        return (None if before is None else escape(before), None if after is None else escape(after))
    old, new = [], []
    for words in word_diff(before, after):
        text = escape(words.text)
        if words.sign != "+":
            old.append(f"<del>{text}</del>" if words.sign == "-" else text)
        if words.sign != "-":
            new.append(f"<ins>{text}</ins>" if words.sign == "+" else text)
    return "".join(old), "".join(new)


def _table(table: TableDifference) -> Iterator[str]:
    changes = [
        (f"{table.rows_added_count} rows added", table.rows_added_count),
        (f"{table.rows_removed_count} rows removed", table.rows_removed_count),
        (f"{table.cells_count} cells changed", table.cells_count),
        (f"columns added: {', '.join(table.columns_added)}", len(table.columns_added)),
        (f"columns removed: {', '.join(table.columns_removed)}", len(table.columns_removed)),
    ]
    if not any(count for _, count in changes):
        return
    by = "all cells" if table.key is None else f"the column {table.key}"
    summary = "; ".join(text for text, count in changes if count)
    yield f"<h2>Table</h2><p>{escape(summary)} (rows identified by {escape(by)})</p>"
    cells = (
        f'<tr><td>{escape(cell.key)}</td><td>{escape(cell.column)}</td><td class="del">{escape(cell.before)}</td>'
        f'<td class="add">{escape(cell.after)}</td></tr>\n'
        for cell in table.cells
    )
    yield _rows("<tr><th>row</th><th>column</th><th>before</th><th>after</th></tr>\n" + "".join(cells))
    yield _listed("del", (" | ".join(row) for row in table.rows_removed))
    yield _listed("add", (" | ".join(row) for row in table.rows_added))


def _edit(edit: JsonEdit) -> str:
    before = "" if edit.change == "added" else json.dumps(edit.before, ensure_ascii=False)
    after = "" if edit.change == "removed" else json.dumps(edit.after, ensure_ascii=False)
    return (
        f'<tr><td>{escape(edit.path)}</td><td class="del">{escape(before)}</td>'
        f'<td class="add">{escape(after)}</td></tr>\n'
    )


def _members(name: str, members: SetDifference) -> str:
    heading = f"<h2>{name}: {members.added_count} added, {members.removed_count} removed</h2>"
    return heading + _listed("del", members.removed) + _listed("add", members.added)


def _listed(kind: str, items: Iterable[str]) -> str:
    rows = "".join(f'<li class="{kind}">{"−" if kind == "del" else "+"} {escape(item)}</li>\n' for item in items)
    return f"<ul>\n{rows}</ul>" if rows else ""
