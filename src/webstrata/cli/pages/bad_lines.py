"""Lists of URLs that users give as files: their bad lines are listed, and a list without any good line is an error."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from msgspec import Struct

from webstrata.cli.output import counted, printable
from webstrata.errors import NothingFound


class BadLine(Struct, frozen=True):
    """A line of a list that is not a page."""

    line: int
    text: str
    problem: str


def show_bad_lines(bad: Sequence[BadLine]) -> None:
    """List the bad lines on stderr."""
    for line in bad:
        typer.echo(f"line {line.line}: {printable(line.problem)}", err=True)


def require_good_lines(source: str, good: int, bad: Sequence[BadLine], *, strict: bool = False) -> None:
    """Raise NothingFound if a list names no page or, if `strict`, has a bad line."""
    name = "the list on stdin" if source == "-" else source
    if bad and not good:
        raise NothingFound(
            f"{name} names no page: {counted(len(bad), 'line')}, all of them bad. Write one URL per line."
        )
    if not good:
        raise NothingFound(f"{name} names no page: it is empty, or has only comments. Write one URL per line.")
    if bad and strict:
        raise NothingFound(
            f"{name} has {counted(len(bad), 'bad line')}, so nothing was done. Correct them, or leave out --strict."
        )
