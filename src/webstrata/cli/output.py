"""How commands print: JSON for programs, aligned tables for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webstrata.clock import iso, span

stdout = Console(soft_wrap=True, highlight=False)
stderr = Console(stderr=True, soft_wrap=True, highlight=False)


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under headings; text of pages is never read as markup, control characters never reach the terminal."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=False)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    stdout.print(table)


def printable(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def when(at: float | None) -> str | None:
    return None if at is None else iso(at)


def moment(at: float | None) -> str:
    """For people: to the second."""
    return "-" if at is None else iso(float(int(at))).replace("T", " ").rstrip("Z")


def ahead(at: float | None, now: float) -> str:
    """For people: how far off an instant is."""
    if at is None:
        return "-"
    return f"in {span(at - now)}" if at > now else "now"


def size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
