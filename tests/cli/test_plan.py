"""`webstrata plan` as its users call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, Demo


def test_a_plan_of_what_is_due(demo: Demo, call: Call) -> None:
    """Both estimates, the hosts that hold the round up, and when it ends."""
    result = call("--home", demo.home, "plan", "--offline", "--json").json

    ours = result["estimate"]
    assert result["visits"] > 200
    assert result["hosts"] == 12
    assert ours["low_s"] <= ours["median_s"] <= ours["high_s"]
    assert ours["bottlenecks"][0]["host"] == "spencerahill.test"
    assert 150 < ours["median_s"] < 250
    assert result["paper"]["crawl_s"] < ours["median_s"]
    assert "spencerahill.test" in result["paper"]["hurried"]
    assert result["starts"] < result["ends"] <= result["ends_between"][1]
    assert result["unknown_hosts"] == []


def test_words_for_people(demo: Demo, call: Call) -> None:
    """The same in sentences, the paper's weakness among them."""
    text = call("--home", demo.home, "plan", "--offline", "--threads", "2").text

    assert "2 threads at most" in text
    assert "needs 1 thread" in text or "needs 2 threads" in text
    assert "too short for hosts whose downloads take less than the delay" in text
    assert "fits its slot of 1h" in text
    assert "spencerahill.test" in text


def test_urls_of_a_file(demo: Demo, call: Call, tmp_path: Path) -> None:
    """Any URLs can be planned; a host that was never visited is like the others, and said to be unknown."""
    listed = tmp_path / "urls.txt"
    listed.write_text("http://llvm.test/x\nhttp://llvm.test/y\nhttp://never.example/\nnonsense\n\n# no\n")

    result = call("--home", demo.home, "plan", "--urls", listed, "--offline", "--json")

    assert result.code == 0
    assert "line 4: not a URL" in result.err
    assert (result.json["visits"], result.json["hosts"]) == (3, 2)
    assert result.json["unknown_hosts"] == ["never.example"]


def test_room_for_more(demo: Demo, call: Call) -> None:
    """--capacity says how many more pages fit, and what is full first."""
    result = call("--home", demo.home, "plan", "--capacity", "--offline", "--json").json
    text = call("--home", demo.home, "plan", "--capacity", "--offline").text

    assert result["pages"] > 200
    assert result["more_pages_new_hosts"] > result["more_pages_same_hosts"] > 1000
    assert result["limited_by"] == result["fullest"][0]["what"]
    assert "more pages like these on the same hosts" in text


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture(demo: Demo, call: Call, tmp_path: Path, ending: str) -> None:
    """--picture draws the planned round, a row for each host."""
    file = tmp_path / f"round.{ending}"

    result = call("--home", demo.home, "plan", "--offline", "--picture", file)

    assert result.code == 0, result.err
    content = file.read_bytes()
    assert content.startswith(b"<?xml" if ending == "svg" else b"\x89PNG")
    if ending == "svg":
        assert b"spencerahill.test" in content


def test_nothing_to_plan(home: Path, call: Call, tmp_path: Path) -> None:
    """An empty home takes no time and says so; an empty list is an error."""
    empty = tmp_path / "empty"
    empty.write_text("")

    assert "Nothing to visit" in call("--home", home, "plan", "--offline").text
    assert call("--home", home, "plan", "--offline", "--json").json["estimate"]["median_s"] == 0
    assert call("--home", home, "plan", "--urls", empty, "--json").code == 1
    assert "No page has an interval yet" in call("--home", home, "plan", "--capacity").text


BAD = [
    (("--threads", "0"), 2, "threads"),
    (("--urls", "/nowhere/at/all"), 2, "cannot read"),
    (("--within", "soon"), 2, "not a duration"),
    (("--capacity", "--picture", "x.svg"), 2, "--capacity is about the whole schedule"),
    (("--offline", "--picture", "x.txt"), 2, "End its name with .svg"),
]


@pytest.mark.parametrize(("words", "code", "said"), BAD)
def test_mistakes_are_told(words: tuple[str, ...], code: int, said: str, demo: Demo, call: Call) -> None:
    """What cannot be planned is refused with a sentence."""
    result = call("--home", demo.home, "plan", *words)

    assert result.code == code
    assert said in result.err
    assert "Traceback" not in result.err
