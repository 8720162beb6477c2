"""`webstrata compare FILE FILE`: the verdict on two files as two versions of one page, without a home."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.files.test_fingerprint import HOSTILE

PAGE = "<title>T</title><main><h1>Head</h1><p>Some words about <a href=/a>this</a> and that.</p></main>"
TURTLE = "@prefix : <http://e.test/> . :a :p 1 ; :q [ :r 2 ] ."

PAIRS: dict[str, tuple[str, str, str, bool, str]] = {
    "equal": ("text/html", PAGE, PAGE, False, "none"),
    "markup": ("text/html", PAGE, PAGE.replace("<p>", "<p class=x>"), False, "markup"),
    "words": ("text/html", PAGE, PAGE.replace("Some words", "Other words"), True, "content"),
    "links": ("text/html", PAGE, PAGE.replace("/a>", "/b>"), True, "links"),
    "a link in another spelling": ("text/html", PAGE, PAGE.replace("/a>", "/a/?utm_source=x>"), False, "markup"),
    "a contact": ("text/html", PAGE.replace("/a>", "tel:1>"), PAGE.replace("/a>", "tel:2>"), True, "links"),
    "graph, other labels": ("text/turtle", TURTLE, TURTLE.replace("[ :r 2 ]", "_:x . _:x :r 2"), False, "markup"),
    "graph": ("text/turtle", TURTLE, TURTLE.replace("2", "3"), True, "data"),
    "JSON, other order": ("application/json", '{"a": 1, "b": 2}', '{"b": 2,\n"a": 1}', False, "markup"),
    "JSON": ("application/json", '{"a": 1}', '{"a": 2}', True, "data"),
    "table": ("text/csv", "a,b\n1,2\n", "a,b\n1,3\n", True, "data"),
    "text": ("text/plain", "one\n", "two\n", True, "content"),
    "bytes": ("application/octet-stream", "\x01", "\x02", True, "content"),
}

Verdict = dict[str, object]


def compared(
    folder: Path, call: Call, kind: str, before: str | bytes, after: str | bytes, *more: str
) -> dict[str, object]:
    files = [folder / "before", folder / "after"]
    for file, content in zip(files, (before, after), strict=True):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = call("compare", *files, "--type", kind, "--json", *more)
    assert (result.code, result.err) == (0, "")
    found: Verdict = result.json
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_verdicts(name: str, tmp_path: Path, call: Call) -> None:
    """The verdict has the kind of change, its significance, and the layers that differ."""
    kind, before, after, changed, expected = PAIRS[name]

    found = compared(tmp_path, call, kind, before, after)

    assert (found["changed"], found["kind"]) == (changed, expected)
    assert isinstance(found["significance"], float)
    assert (found["significance"] > 0) == changed
    assert isinstance(found["layers"], dict)
    assert found["layers"]["raw"] == (before != after)


LONG = "<title>T</title><main>" + "".join(f"<p>Line {number} of many in a long page.</p>" for number in range(2000))
SHARES = {
    "one word of many": ("text/html", LONG, LONG.replace("Line 7 of", "Line 7 off"), "less than 0.1 % of the"),
    "one word": ("text/html", PAGE, PAGE.replace("Some", "Other"), " % of the text)"),
    "unknown": ("application/octet-stream", "\x01", "\x02", "the size of the difference is not known"),
    "data": ("application/json", '{"a": 1}', '{"a": 2}', " % of the data)"),
    "links": ("text/html", PAGE, PAGE.replace("/a>", "/b>"), "link"),
}


@pytest.mark.parametrize("name", SHARES)
def test_shares(name: str, tmp_path: Path, call: Call) -> None:
    """No change stands beside a share of 0 %; if the share is not known, the reasons say so."""
    kind, before, after, expected = SHARES[name]
    found = compared(tmp_path, call, kind, before, after)
    text = call("compare", tmp_path / "before", tmp_path / "after", "--type", kind).text

    assert found["changed"]
    assert expected in text
    assert not re.search(r"(^|[^.\d])0(\.0+)? ?%", text), text


def test_rules_and_order(tmp_path: Path, call: Call) -> None:
    """Rules, the layer, the minimum size and the order of rows apply as they do to pages."""
    other = PAGE.replace("Some words", "Other words")

    assert compared(tmp_path, call, "text/html", PAGE, other, "--ignore", "css:p")["changed"] is False
    assert compared(tmp_path, call, "text/html", PAGE, other, "--layer", "links")["changed"] is False
    assert compared(tmp_path, call, "text/html", PAGE, other, "--min-size", "1.0")["changed"] is False
    rows = ("a,b\n1,2\n1,4\n", "a,b\n1,4\n1,2\n")
    assert compared(tmp_path, call, "text/csv", *rows)["changed"] is True
    assert compared(tmp_path, call, "text/csv", *rows, "--unordered")["changed"] is False


def test_kinds_of_attributes_are_checked(tmp_path: Path, call: Call) -> None:
    """Known kinds of attributes are accepted, others are refused with the list of kinds."""
    assert compared(tmp_path, call, "text/html", PAGE, PAGE, "--attributes", "image")["changed"] is False
    refused = call("compare", tmp_path / "before", tmp_path / "after", "--ignore-attributes", "colour")
    assert refused.code == 2
    assert "not a kind of attribute" in refused.err


def test_for_the_eye(tmp_path: Path, call: Call) -> None:
    """Without --json the verdict is printed in a few lines."""
    for name, body in (("a.html", PAGE), ("b.html", PAGE.replace("Some", "No"))):
        (tmp_path / name).write_text(body)

    result = call("compare", tmp_path / "a.html", tmp_path / "b.html")

    assert result.text.startswith("changed (content), decided by layer main\n")


@pytest.mark.parametrize("name", ["deep HTML", "XML bomb", "deep JSON", "NULs"])
def test_hostile_files(name: str, tmp_path: Path, call: Call) -> None:
    """Two malicious files that differ in one byte are compared within seconds."""
    kind, body = HOSTILE[name]
    begun = time.monotonic()

    found = compared(tmp_path, call, kind, body, body + b"x")

    assert found["kind"] in ("content", "markup", "data")
    assert time.monotonic() - begun < 60
