"""How commands print: nothing that a terminal obeys, columns that align, words for people."""

from __future__ import annotations

import pytest

from webstrata.cli.output import ahead, counted, print_json, print_table, printable, size
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
    """What a terminal would obey is replaced; every script's letters, spaces and joiners stay."""
    assert printable(text) == shown


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns align under their headings, wide letters counted as two; what is too long only shifts its own line."""
    print_table(("a", "name", "last"), [(1, "x", "one"), (22, "\u5b57\u5b57", "two words"), (3, "y" * 60, "z" * 200)])

    heading, first, second, third = capsys.readouterr().out.splitlines()

    assert heading == "a   name  last"
    assert first == "1   x     one"
    assert second == "22  \u5b57\u5b57  two words"
    assert third == f"3   {'y' * 60}  {'z' * 200}"


def test_table_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal words are wrapped under their heading and addresses stay whole."""
    monkeypatch.setattr("webstrata.cli.output._room", lambda _taken: 24)

    print_table(("key", "meaning"), [("k", "several words that take more than one line"), ("u", "http://" + "x" * 50)])

    assert capsys.readouterr().out.splitlines()[1:] == [
        "k    several words that take",
        "     more than one line",
        "u    http://" + "x" * 50,
    ]


def test_json_of_settings_numbers(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Spans and sizes are plain numbers in JSON."""
    print_json({"delay_s": Duration(1.5), "size": ByteSize(10)})

    assert b"".join(capfdbinary.readouterr().out.split()) == b'{"delay_s":1.5,"size":10}'


@pytest.mark.parametrize(
    ("at", "shown"),
    [(None, "-"), (10_000.0, "now"), (9_000.0, "now"), (13_600.0, "in 1h"), (0.0, "since 1970-01-01")],
)
def test_ahead(at: float | None, shown: str) -> None:
    """How far off a visit is, or since when it is due."""
    assert ahead(at, 10_000.0) == shown


def test_words() -> None:
    """Counts and sizes as people write them."""
    assert [counted(number, "page") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    assert [size(count) for count in (0, 999, 1000, 1.5e6, 2e9, 3e15)] == [
        "0 B",
        "999 B",
        "1.0 KB",
        "1.5 MB",
        "2.0 GB",
        "3000.0 TB",
    ]
