"""`webstrata cat`: archived bodies and headers."""

from __future__ import annotations

import hashlib
import re

from tests.cli.conftest import Call, Demo

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
