"""`webstrata why`, `log` and `status`: facts for people and for programs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Call, Demo

PAGE = "http://llvm.test/"


def test_why(demo: Demo, call: Call) -> None:
    """Policy, interval, evidence and politeness are named; people get no bare seconds or epochs."""
    result = call("--home", demo.home, "why", PAGE, "--json").json
    text = call("--home", demo.home, "why", PAGE).text

    assert result["policy"] == "dyn"
    assert result["interval_s"] > 0
    assert result["reason"].startswith("dyn: ")
    assert result["evidence"]["visits"] >= 3
    assert result["politeness"]["host"] == "llvm.test"
    assert "next visit  2023-" in text
    assert re.search(r"^    delay +1s$", text, re.MULTILINE)
    assert re.search(r"^    last change +2023-\d\d-\d\d \d\d:\d\d:\d\d$", text, re.MULTILINE)
    assert not re.search(r"\d{9,}\.\d", text)
    assert "None" not in text
    assert "True" not in text


def test_why_before_the_first_visit(home: Path, call: Call) -> None:
    """A page that was never visited is due at once, and that is said."""
    call("--home", home, "watch", "http://one.example/")

    assert "never visited: due at once" in call("--home", home, "why", "http://one.example/").text


def test_log(demo: Demo, call: Call) -> None:
    """Every visit is there, newest first; --changes, --limit, --from and --to choose among them."""
    visits = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    changes = call("--home", demo.home, "log", PAGE, "--changes", "--json").json["visits"]

    assert [visit["at"] for visit in visits] == sorted((visit["at"] for visit in visits), reverse=True)
    assert visits[-1]["outcome"] == "new"
    assert changes == [visit for visit in visits if visit["outcome"] not in ("same", "error")]
    assert call("--home", demo.home, "log", PAGE, "--limit", "1", "--json").json["visits"] == visits[:1]
    first = visits[-1]["at"]
    assert call("--home", demo.home, "log", PAGE, "--to", first, "--json").json["visits"] == visits[-1:]
    assert len(call("--home", demo.home, "log", PAGE).text.splitlines()) == len(visits) + 1
    assert "No visits in that time" in call("--home", demo.home, "log", PAGE, "--to", "2000").err


def test_status(demo: Demo, home: Path, call: Call) -> None:
    """Counts, what is due, the schedule's cost and the disk; an empty home says what to do first."""
    text = call("--home", demo.home, "status").text

    assert [line.split()[0] for line in text.splitlines()] == ["home", "pages", "due", "visits", "schedule", "disk"]
    assert "the first since 2023-" in text
    assert "`webstrata watch URL`" in call("--home", home, "status").text
    assert "`webstrata watch URL`" in call("--home", home, "list").err
