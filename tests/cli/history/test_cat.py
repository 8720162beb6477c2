"""`webstrata cat`: archived bodies and headers."""

from __future__ import annotations

import hashlib
import re

import pytest

from tests.cli.conftest import Call, Demo, Hostile, on_a_terminal

PAGE = "http://llvm.test/"


def test_cat_at(demo: Demo, call: Call) -> None:
    """`cat --at` prints the version at that time; its bytes, without content coding, have the digest in the log."""
    visits = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    assert len({visit["raw"] for visit in visits}) > 1

    for visit in visits:
        body = call("--home", demo.home, "cat", PAGE, "--at", visit["at"]).out
        assert hashlib.sha256(body).hexdigest() == visit["raw"]
    assert call("--home", demo.home, "cat", PAGE).out == call("--home", demo.home, "cat", PAGE, "--at", "2030").out


def test_cat_headers(demo: Demo, call: Call) -> None:
    """`cat --headers` prints the archived status and headers."""
    lines = call("--home", demo.home, "cat", PAGE, "--headers").text.splitlines()

    assert lines[0] == "status: 200"
    assert any(line.startswith("content-type: text/html") for line in lines)
    assert all(re.match(r"[\w-]+: ", line) for line in lines)


@pytest.mark.parametrize("words", [("cat",), ("diff",), ("diff", "--raw"), ("diff", "--raw", "--html")])
def test_hostile_text_on_a_terminal(words: tuple[str, ...], hostile: Hostile) -> None:
    """No command writes control characters of a page to a terminal."""
    shown = on_a_terminal("--home", hostile.home, *words, hostile.control)

    assert "two" in shown
    colours = r"\x1b\[(0|1|7|3[0-9])m"
    assert not re.search("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u202e]", re.sub(colours, "", shown))


def test_bytes_on_a_terminal(hostile: Hostile, call: Call) -> None:
    """A binary body is not written to a terminal; a pipe gets its bytes."""
    shown = on_a_terminal("--home", hostile.home, "cat", hostile.picture)

    assert "not shown on a terminal" in shown
    assert "PNG" not in shown
    assert call("--home", hostile.home, "cat", hostile.picture).out.startswith(b"\x89PNG")
