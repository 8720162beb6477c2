"""A change of a page as text, as an object of JSON and as a row of CSV."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import typer

from webstrata.cli.history.difference_text import ShownAs
from webstrata.cli.history.visit_text import kind_text
from webstrata.cli.output import date_time, iso_or_none, printable
from webstrata.detect.diff.changed_words import ChangedWords, changed_lines, changed_words
from webstrata.detect.diff.difference import Difference
from webstrata.flows.changes import PageChange

MAX_WORDS = 1_000
"""Characters of the removed and of the added words in JSON and CSV."""

CSV_COLUMNS = (
    "at",
    "url",
    "title",
    "host",
    "tags",
    "outcome",
    "kind",
    "significance",
    "reasons",
    "status",
    "reverted",
    "new_links",
    "from",
    "words_removed",
    "words_added",
)
_COLOURS = {"gone": "red", "back": "green", "new": "green"}


def change_json(change: PageChange, difference: Difference | None) -> dict[str, Any]:
    """A change for JSON documents."""
    visit = change.visit
    words = ChangedWords("", "") if difference is None else changed_words(difference, MAX_WORDS)
    return {
        "at": iso_or_none(visit.at),
        "url": change.found.url,
        "title": page_title(change),
        "host": change.found.host,
        "tags": change.found.tags,
        "outcome": visit.outcome,
        "kind": visit.kind,
        "significance": visit.significance,
        "reasons": visit.reasons,
        "product_values": visit.product_values,
        "status": visit.status,
        "reverted": visit.reverted,
        "new_links": visit.new_links,
        "from": iso_or_none(change.before.at) if change.before is not None else None,
        "words_removed": words.removed,
        "words_added": words.added,
    }


def page_title(change: PageChange) -> str:
    """The present title of the page; empty if it has none."""
    fingerprint = change.page.fingerprint
    return "" if fingerprint is None else fingerprint.title or ""


def change_csv(change: PageChange, difference: Difference | None) -> list[object]:
    """The cells of a change, in the order of `CSV_COLUMNS`; tags and reasons are separated by semicolons."""
    found = change_json(change, difference)
    cells = {**found, "tags": "; ".join(found["tags"]), "reasons": "; ".join(found["reasons"])}
    return [cells[name] for name in CSV_COLUMNS]


def change_lines(change: PageChange, difference: Difference | None, shown: ShownAs) -> Iterator[str]:
    """A change as text: time, kind and URL; the reasons; the lines that differ."""
    visit = change.visit
    head = date_time(visit.at), kind_text(visit), printable(change.found.url)
    if shown.is_coloured:
        colour = _COLOURS.get(visit.kind, "yellow")
        head = typer.style(head[0], dim=True), typer.style(head[1], fg=colour), typer.style(head[2], bold=True)
    yield "  ".join(head)
    if visit.reasons:
        yield from _wrapped(printable("; ".join(visit.reasons)))
    if difference is not None:
        lines = changed_lines(difference, merged=shown.words)
        yield from (f"  {line}" for line in shown.limited(lines, is_coloured=shown.is_coloured))


def _wrapped(text: str) -> list[str]:
    """An indented text, wrapped on a terminal."""
    if not sys.stdout.isatty():
        return [f"  {text}"]
    width = max(40, shutil.get_terminal_size().columns - 1)
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
