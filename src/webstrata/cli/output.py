"""How commands print: JSON documents, tables with aligned columns, progress bars, and formatted times and sizes."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec
import typer

from webstrata.clock import iso, span
from webstrata.wording import counted as counted  # every command that prints may need it


@contextmanager
def progress_bar(
    what: str, total: int | None = None, *, unit: Literal["bytes", "rows"] = "bytes"
) -> Iterator[Callable[[int], object]]:
    """Show the progress of work on files; yields the function to call with each number of bytes or rows done.

    The bar is written to stderr, and only to a terminal. Without a total it shows activity, not a share.
    """
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from webstrata.cli.crawl.display import stderr

    done = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), done, TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda count: shown.advance(task, count)


_MAX_WIDTH = 40
"""A wider cell does not widen its column; only its own line is not aligned."""
_MIN_WRAP_WIDTH = 24
"""Text is not wrapped into a column narrower than this."""

# Characters that a terminal interprets: control characters, line and paragraph separators, changes of the writing
# direction. Surrogates cannot be encoded.
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(document: Any) -> None:
    """Print one JSON document to stdout."""
    write_bytes(json_bytes(document))


def write_bytes(chunk: bytes | memoryview) -> None:
    """Write bytes to stdout, after the text written before them; call it for each piece of a large body.

    All commands write through `sys.stdout` (bytes with this function, text with `typer.echo`), which is complete or fails:
    see `webstrata.cli.streams`. Nothing needs to be flushed, and errors need no handling: `main` reports them.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(chunk)


@contextmanager
def output_to(out: Path | None) -> Iterator[BinaryIO]:
    """stdout, or a file that is put in place when it is complete; the name `-` stands for stdout."""
    if out is None or str(out) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from webstrata.node import output_file

    with output_file(out) as file:
        yield file


def json_bytes(document: Any) -> bytes:
    """A JSON document, indented, with a line feed at its end."""
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=_plain), indent=2) + b"\n"


def _plain(value: Any) -> Any:
    """Values of subclasses of float and int (durations and sizes of the settings) are encoded as numbers."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError(f"cannot encode {type(value).__name__} as JSON")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], max_width: int = _MAX_WIDTH) -> None:
    """Print rows in aligned columns under headings. A cell wider than `max_width` does not widen its column.

    Long values belong in the last column. On a terminal its text is wrapped between words, and text without spaces
    (a URL) is not broken, so that it can be copied. Output to a pipe is not wrapped.
    """
    cells = [[printable(cell).replace("\t", " ") for cell in row] for row in rows]
    lengths = ([_width(row[index]) for row in [list(columns), *cells]] for index in range(len(columns) - 1))
    widths = [max((length for length in column if length <= max_width), default=0) for column in lengths]
    wrap_width = _wrap_width(sum(widths) + 2 * len(widths))
    heading = "\n".join(_lines(columns, widths, wrap_width))
    typer.secho(heading, bold=True)
    text = "\n".join(line for row in cells for line in _lines(row, widths, wrap_width))
    if text:
        typer.echo(text)


def _wrap_width(indent: int) -> int | None:
    """Width of the last column on the terminal; None if its text is not to be wrapped."""
    if not sys.stdout.isatty():
        return None
    width = shutil.get_terminal_size().columns - indent - 1
    return width if width >= _MIN_WRAP_WIDTH else None


def _lines(row: Sequence[str], widths: Sequence[int], wrap_width: int | None) -> list[str]:
    *firsts, last = row
    start = "".join(cell + " " * max(2, width - _width(cell) + 2) for cell, width in zip(firsts, widths, strict=True))
    if wrap_width is None:
        return [(start + last).rstrip()]
    lines = textwrap.wrap(last, wrap_width, break_long_words=False, break_on_hyphens=False) or [""]
    indent = " " * (sum(widths) + 2 * len(widths))
    return [(start + lines[0]).rstrip(), *(indent + line for line in lines[1:])]


def _width(text: str) -> int:
    """The number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # imported only if needed: most tables are ASCII, and the import is slow

    return cell_len(text)


def printable(cell: object) -> str:
    """Text of pages and servers, with the characters replaced that a terminal would interpret."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", "" if cell is None else str(cell))


def iso_or_none(at: float | None) -> str | None:
    """An instant for JSON documents."""
    return None if at is None else iso(at)


def date_time(at: float | None) -> str:
    """An instant for display, with a resolution of one second."""
    return "-" if at is None else iso(float(int(at))).replace("T", " ").rstrip("Z")


def time_until(at: float | None, now: float) -> str:
    """A due time for display, relative to now: `in 3h`, `now`, `since 2026-11-15`."""
    if at is None:
        return "-"
    if at > now:
        return f"in {span(at - now)}"
    return "now" if now - at < 3600 else f"since {date_time(at)[:10]}"


def size(count: float) -> str:
    """A number of bytes for display: `1.5 MB`."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
