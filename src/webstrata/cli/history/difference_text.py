"""How `diff` prints the lines of a difference: to a pipe, to a terminal, and with words marked by brackets.

Texts of pages are made printable before styles are added, so that no control sequence of a page reaches the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from webstrata.cli.output import counted, printable

if TYPE_CHECKING:
    from webstrata.detect.diff.difference import Difference
    from webstrata.detect.diff.lines import ShownLine
    from webstrata.detect.diff.text import WordRun

NOISE_HEADING = "@@ learned noise, which does not count @@"
_COLOURS = {"-": "red", "+": "green", "@": "cyan"}
_BRACKETS = {"-": "[-{}-]", "+": "{{+{}+}}", " ": "{}"}


class ShownAs(NamedTuple):
    """How the options of `diff` want a difference to be shown."""

    words: bool = False
    """Both versions of a changed line in one line, with marked words, as `git diff --word-diff` prints them."""
    html: bool = False
    json: bool = False
    out: Path | None = None
    max_lines: int | None = None
    """Lines of each difference."""
    noise: bool = False
    """Show learned noise after what counts."""

    @property
    def is_coloured(self) -> bool:
        """Whether the output is a terminal, and its user wants colours."""
        return self.out is None and not self.json and sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def text(self, difference: Difference) -> Iterator[str]:
        """The lines to print, and the number of those that are left out; then learned noise, or its number of lines."""
        from webstrata.detect.diff.lines import changed_line_count

        yield from self._lines(difference)
        if difference.noise is None:
            return
        if self.noise:
            yield from self.noise_lines(difference.noise)
            return
        count = changed_line_count(difference.noise)
        verb, pronoun = ("is", "it") if count == 1 else ("are", "them")
        yield f"… {counted(count, 'line')} of learned noise {verb} hidden; --noise shows {pronoun}."

    def noise_lines(self, noise: Difference) -> Iterator[str]:
        """The lines of learned noise, dimmed on a terminal."""
        for line in (NOISE_HEADING, *self._lines(noise, is_noise=True)):
            yield typer.style(line, dim=True) if self.is_coloured else line

    def _lines(self, difference: Difference, *, is_noise: bool = False) -> Iterator[str]:
        from webstrata.detect.diff.lines import merged_lines, signed_lines

        is_coloured = self.is_coloured and not is_noise
        lines = merged_lines(difference) if self.words else signed_lines(difference, with_words=is_coloured)
        return self.limited(lines, is_coloured=is_coloured)

    def limited(self, lines: Iterator[ShownLine], *, is_coloured: bool) -> Iterator[str]:
        """These lines, up to the maximum; then the number of those that are left out."""
        for line in islice(lines, self.max_lines):
            yield _coloured(line, self.words) if is_coloured else _plain(line, self.words)
        rest = sum(1 for _ in lines)
        if rest:
            yield f"… {counted(rest, 'more line')}"


def move_json(difference: Difference | None) -> dict[str, str | None] | None:
    """The final URLs of both versions for JSON documents, if the page moved."""
    if difference is None or difference.move is None:
        return None
    return {"before": difference.move.before, "after": difference.move.after}


def write_text(lines: Iterable[str], out: Path | None) -> None:
    """Write lines, which are printable, to a file or to stdout."""
    if out is None:
        for line in lines:
            typer.echo(line)
        return
    with out.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    typer.echo(f"wrote {out}", err=True)


def write_html(pieces: Iterable[str], out: Path | None) -> None:
    """Write the pieces of a page to a file or to stdout, without characters that a terminal would interpret."""
    write_text((printable(line) for piece in pieces for line in piece.removesuffix("\n").split("\n") if piece), out)


def _plain(line: ShownLine, words: bool) -> str:
    if words:
        return "".join(_bracketed(run) for run in line.runs)
    return printable(line.text if line.sign == "@" else line.sign + line.text)


def _bracketed(run: WordRun) -> str:
    return _BRACKETS[run.sign].format(printable(run.text)) if run.text else ""


def _coloured(line: ShownLine, words: bool) -> str:
    colour = _COLOURS.get(line.sign)
    sign = "" if words or line.sign == "@" else line.sign
    return typer.style(sign, fg=colour) + "".join(_styled(run, colour, words) for run in line.runs)


def _styled(run: WordRun, colour: str | None, words: bool) -> str:
    """Marked words are inverse in a removed or added line, and coloured in other lines."""
    if run.sign == " ":
        return typer.style(printable(run.text), fg=colour)
    text = _bracketed(run) if words else printable(run.text)
    return typer.style(text, fg=_COLOURS[run.sign], reverse=True if colour is not None else None)
