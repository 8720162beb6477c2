"""A bar for long work over files: on a terminal only, on stderr, so that pipes and `--json` stay clean.

How commands print: JSON for programs, aligned columns for people and pipes alike.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import typer

from webstrata.clock import iso, span


@contextmanager
def bar(what: str, total_bytes: int | None = None) -> Iterator[Callable[[int], object]]:
    """Give a function that is told of every stretch of bytes done; no total: a bar that only moves."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from webstrata.cli.crawl.display import stderr

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as shown:
        task = shown.add_task(what, total=total_bytes)
        yield lambda count: shown.advance(task, count)


_WIDEST = 40
"""A cell that is wider pushes only its own line out of the columns."""
_NARROWEST = 24
"""Words are not wrapped into a column narrower than this."""

# What a terminal would obey instead of show: control characters, line and paragraph separators, orders to write
# backwards. Surrogates cannot be written at all.
_OBEYED = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    encoded = msgspec.json.encode(document, enc_hook=_plain)
    sys.stdout.buffer.write(msgspec.json.format(encoded, indent=2) + b"\n")
    sys.stdout.buffer.flush()


def _plain(value: Any) -> Any:
    """Numbers with a name of their own (spans and sizes of the settings) are numbers."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns under headings. The last one holds what may be long: in a pipe it is never folded, on a terminal its
    words are wrapped under their heading, and what has no spaces (an address) stays whole, to be copied."""
    cells = [[printable(cell).replace("\t", " ") for cell in row] for row in rows]
    lengths = ([_length(row[place]) for row in [list(columns), *cells]] for place in range(len(columns) - 1))
    widths = [max((one for one in column if one <= _WIDEST), default=0) for column in lengths]
    room = _room(sum(widths) + 2 * len(widths))
    heading = "\n".join(_lines(columns, widths, room))
    typer.secho(heading, bold=True)
    text = "\n".join(line for row in cells for line in _lines(row, widths, room))
    if text:
        typer.echo(text)


def _room(taken: int) -> int | None:
    """Width for the words of the last column; none: they are not to be wrapped."""
    if not sys.stdout.isatty():
        return None
    left = shutil.get_terminal_size().columns - taken - 1
    return left if left >= _NARROWEST else None


def _lines(row: Sequence[str], widths: Sequence[int], room: int | None) -> list[str]:
    *firsts, last = row
    start = "".join(cell + " " * max(2, width - _length(cell) + 2) for cell, width in zip(firsts, widths, strict=True))
    if room is None:
        return [(start + last).rstrip()]
    words = textwrap.wrap(last, room, break_long_words=False, break_on_hyphens=False) or [""]
    indent = " " * (sum(widths) + 2 * len(widths))
    return [(start + words[0]).rstrip(), *(indent + line for line in words[1:])]


def _length(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # only now: most tables are plain letters, and it takes a while to load

    return cell_len(text)


def printable(cell: object) -> str:
    """Text of pages and servers, harmless for a terminal."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", "" if cell is None else str(cell))


def counted(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def when(at: float | None) -> str | None:
    return None if at is None else iso(at)


def moment(at: float | None) -> str:
    """For people: to the second."""
    return "-" if at is None else iso(float(int(at))).replace("T", " ").rstrip("Z")


def ahead(at: float | None, now: float) -> str:
    """For people: how far off an instant is, or since when it is past."""
    if at is None:
        return "-"
    if at > now:
        return f"in {span(at - now)}"
    return "now" if now - at < 3600 else f"since {moment(at)[:10]}"


def size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
