"""`webstrata list`: its columns in a pipe."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_list_columns(home: Path, call: Call) -> None:
    """In a pipe each page is one line, with the whole URL at its end."""
    long = "http://one.example/" + "x" * 300
    call("--home", home, "watch", long, "--tag", "a", "--tag", "b")

    heading, line = call("--home", home, "list").text.splitlines()

    assert heading.split()[-1] == "page"
    assert line.split()[-1] == long
    assert line.index("http") == heading.index("page")
    assert call("--home", home, "list", "--state", "paused").err == "No page matches.\n"
