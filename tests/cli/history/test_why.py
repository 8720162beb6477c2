"""`webstrata why`: the explanation of the next visit, as text and as JSON."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Call, Demo

PAGE = "http://llvm.test/"


def test_why(demo: Demo, call: Call) -> None:
    """Policy, interval, evidence and politeness are shown; the text has formatted times and durations."""
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
    """A page that was never visited is due at once."""
    call("--home", home, "watch", "http://one.example/")

    assert "never visited: due at once" in call("--home", home, "why", "http://one.example/").text


def test_why_of_a_page_known_from_copies(home: Path, call: Call, tmp_path: Path) -> None:
    """An imported page is not visited until it is watched; then its copies are part of the evidence."""
    index = tmp_path / "archive.cdx"
    index.write_text(
        " CDX N b a m s k r M S V g\n"
        "one)/ 20240101000000 http://one.example/ text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 1 0 a.warc\n"
        "one)/ 20240301000000 http://one.example/ text/html 200 LNMEDYOENSOEI5VPADCKL3CB6N3GWXPR - - 1 1 a.warc\n"
    )
    imported = call("--home", home, "import", "cdx", index, "--json").json
    assert imported["learned"] == {"pages": 1, "copies": 2}
    unwatched = call("--home", home, "why", "http://one.example/", "--json").json
    assert unwatched["reason"] == "not watched, so it is not visited: `webstrata watch` watches it"
    assert unwatched["evidence"]["copies"] == 2

    call("--home", home, "watch", "http://one.example/")
    watched = call("--home", home, "why", "http://one.example/", "--json").json
    assert watched["evidence"]["rate_per_day"] > 0
    assert "known from copies in archives" in watched["evidence"]["rule"]
