"""How commands print: safe text, aligned columns, formatted numbers, progress bars."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from webstrata.cli.output import counted, print_json, print_table, printable, size, time_until
from webstrata.settings import ByteSize, Duration


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\x00\x07\x08\r\nb", "a\ufffd\ufffd\ufffd\ufffd\ufffdb"),
        ("\x9b31m\x85\x7f", "\ufffd31m\ufffd\ufffd"),
        ("\u202ereversed\u2066\u200f", "\ufffdreversed\ufffd\ufffd"),
        ("\u2028\u2029", "\ufffd\ufffd"),
        ("\ud800", "\ufffd"),
        ("tab\tand\u00a0space", "tab\tand\u00a0space"),
        ("\U0001f469\u200d\U0001f52c e\u0301 \u5b57", "\U0001f469\u200d\U0001f52c e\u0301 \u5b57"),
        (None, ""),
        (3, "3"),
    ],
)
def test_printable(text: object, shown: str) -> None:
    """Characters that a terminal interprets are replaced; letters of all scripts, spaces and joiners are kept."""
    assert printable(text) == shown


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns are aligned, and wide letters count as two; a very long cell shifts only its own line."""
    print_table(("a", "name", "last"), [(1, "x", "one"), (22, "\u5b57\u5b57", "two words"), (3, "y" * 60, "z" * 200)])

    heading, first, second, third = capsys.readouterr().out.splitlines()

    assert heading == "a   name  last"
    assert first == "1   x     one"
    assert second == "22  \u5b57\u5b57  two words"
    assert third == f"3   {'y' * 60}  {'z' * 200}"


def test_table_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal text is wrapped between words, and URLs are not broken."""
    monkeypatch.setattr("webstrata.cli.output._wrap_width", lambda _taken: 24)

    print_table(("key", "meaning"), [("k", "several words that take more than one line"), ("u", "http://" + "x" * 50)])

    assert capsys.readouterr().out.splitlines()[1:] == [
        "k    several words that take",
        "     more than one line",
        "u    http://" + "x" * 50,
    ]


def test_empty_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A table without rows has only a heading."""
    print_table(("a", "b"), [])

    assert capsys.readouterr().out == "a  b\n"


def test_json_of_settings_numbers(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Durations and sizes are numbers in JSON."""
    print_json({"delay_s": Duration(1.5), "size": ByteSize(10)})

    assert b"".join(capfdbinary.readouterr().out.split()) == b'{"delay_s":1.5,"size":10}'


@pytest.mark.parametrize(
    ("at", "shown"),
    [(None, "-"), (10_000.0, "now"), (9_000.0, "now"), (13_600.0, "in 1h"), (0.0, "since 1970-01-01")],
)
def test_time_until(at: float | None, shown: str) -> None:
    """A due time is shown relative to now."""
    assert time_until(at, 10_000.0) == shown


def test_words() -> None:
    """Numbers have a noun in singular or plural; sizes have a unit."""
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [size(count) for count in (0, 999, 1000, 1.5e6, 2e9, 3e15)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "1.5 MB",
        "2.0 GB",
        "3000.0 TB",
    ]


_SHOW_BAR = """
from webstrata.cli.output import progress_bar
with progress_bar("reading the archive", 1000) as on_progress:
    for _ in range(10):
        on_progress(100)
print("done")
"""


def test_progress_bar_on_a_terminal() -> None:
    """On a terminal the bar shows the description and the bytes done."""
    master, slave = pty.openpty()
    shown = subprocess.Popen([sys.executable, "-c", _SHOW_BAR], stderr=slave, stdout=subprocess.PIPE)
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # raised on Linux when the other end is closed
            break
        if not piece:
            break
        seen += piece
    out, _ = shown.communicate(timeout=60)
    os.close(master)
    assert out == b"done\n"
    assert b"reading the archive" in seen
    assert b"1.0/1.0 kB" in seen


def test_no_progress_bar_in_a_pipe() -> None:
    """If stderr is a pipe, nothing is written."""
    shown = subprocess.run([sys.executable, "-c", _SHOW_BAR], capture_output=True, timeout=60, check=True)
    assert shown.stdout == b"done\n"
    assert shown.stderr == b""
