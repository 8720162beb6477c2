"""`webstrata changes`: what changed on all pages, in every format."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.conftest import ALWAYS_DUE, Call, Demo, Hostile, LocalServer, on_a_terminal

HTML = "text/html; charset=utf-8"
STORY = "<p>The same story as ever, told at length for the sake of the main content of this page.</p>" * 8
PAGE = "<title>Rates of {name}</title><main>{story}<p>The rate of {name} is {rate} per cent.</p></main>"
EVER = ("--since", "2000")


@pytest.fixture
def changed(home: Path, server: LocalServer, call: Call) -> Path:
    """A home with /a (tag news), which changed from 1 to 2 to 3, and /b, which was seen at 1 and is then gone."""
    call("--home", home, "watch", server.url("/a"), "--tag", "news")
    call("--home", home, "watch", server.url("/b"))
    for rate in "123":
        for name in "ab":
            server.pages[f"/{name}"] = (
                HTML,
                PAGE.format(name=name, story=STORY, rate=rate if name == "a" else "1").encode(),
            )
        if rate == "3":
            del server.pages["/b"]
        call("--home", home, "crawl", "--quiet", **server.settings, **ALWAYS_DUE)
    return home


def test_text(changed: Path, server: LocalServer, call: Call) -> None:
    """The first line has the numbers and the period; each change has time, kind, URL, reasons and its lines."""
    result = call("--home", changed, "changes")

    lines = result.text.splitlines()
    assert re.fullmatch(r"3 changes of 2 pages since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, newest first", lines[0])
    heads = [line.split("  ") for line in lines if re.match(r"\d{4}-", line)]
    assert [(kind.split()[0], url) for _, kind, url in heads] in (
        [("gone", server.url("/b")), ("content", server.url("/a")), ("content", server.url("/a"))],
        [("content", server.url("/a")), ("gone", server.url("/b")), ("content", server.url("/a"))],
    )
    assert [line for line in lines if line.startswith(("  -", "  +"))] == [
        "  -The rate of a is 2 per cent.",
        "  +The rate of a is 3 per cent.",
        "  -The rate of a is 1 per cent.",
        "  +The rate of a is 2 per cent.",
    ]
    assert (result.code, result.err) == (0, "")


def test_words_and_lines(changed: Path, call: Call) -> None:
    """--words marks words in one line, --lines limits the lines, --no-words shows none."""
    words = call("--home", changed, "changes", "--words", "--tag", "news", "--limit", "1")
    assert "  The rate of a is [-2-]{+3+} per cent." in words.text.splitlines()
    assert "The newest 1 of 2 are shown" in words.err
    short = call("--home", changed, "changes", "--lines", "1", "--tag", "news", "--limit", "1").text
    assert "… 1 more line" in short
    assert "+The" not in short
    assert "The rate" not in call("--home", changed, "changes", "--no-words").text


def test_selection(changed: Path, call: Call) -> None:
    """Changes are selected by tag, host, kind, significance and time; --first adds first versions."""

    def kinds(*words: object) -> list[str]:
        document = call("--home", changed, "changes", "--json", *words).json
        assert document["total"] == len(document["changes"])
        return sorted(change["kind"] for change in document["changes"])

    assert kinds() == ["content", "content", "gone"]
    assert kinds("--first") == ["content", "content", "gone", "new", "new"]
    assert kinds("--tag", "news") == ["content", "content"]
    assert kinds("--tag", "other") == []
    assert kinds("--host", "127.0.0.1") == kinds()
    assert kinds("--host", "other.example") == []
    assert kinds("--kind", "gone") == ["gone"]
    assert kinds("--min-significance", "0.95") == [kind for kind in kinds() if kind == "gone"]
    assert kinds("--until", "2020", *EVER) == []
    assert kinds("--to", "1h") == []


def test_mistakes(changed: Path, call: Call) -> None:
    """Options that contradict each other, and times that are none, are wrong usage."""
    assert call("--home", changed, "changes", "--until", "2000").code == 2
    assert call("--home", changed, "changes", "--since", "soon").code == 2
    assert call("--home", changed, "changes", "--json", "--format", "csv").code == 2
    assert call("--home", changed, "changes", "--kind", "odd").code == 2


def test_nothing(home: Path, call: Call) -> None:
    """Without a change the first line says so, and a message says what to do."""
    result = call("--home", home, "changes")
    assert result.text.startswith("0 changes of 0 pages since ")
    assert "--since 7d" in result.err
    for format_ in ("json", "ndjson", "csv", "atom"):
        assert call("--home", home, "changes", "--format", format_).err == "", "cron would send a mail"


def test_json(changed: Path, server: LocalServer, call: Call) -> None:
    """The document has the words of each change; ndjson has the same objects, one in each line."""
    document = call("--home", changed, "changes", "--json").json
    newest = next(change for change in document["changes"] if change["kind"] == "content")
    assert (newest["url"], newest["title"], newest["tags"]) == (server.url("/a"), "Rates of a", ["news"])
    assert (newest["words_removed"], newest["words_added"]) == ("2", "3")
    assert newest["from"] < newest["at"]
    assert newest["reasons"]
    gone = next(change for change in document["changes"] if change["kind"] == "gone")
    assert (gone["from"], gone["words_removed"], gone["status"]) == (None, "", 404)
    lines = call("--home", changed, "changes", "--format", "ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == document["changes"]
    unread = call("--home", changed, "changes", "--json", "--no-words").json["changes"]
    assert {change["words_added"] for change in unread} == {""}


def test_csv(changed: Path, call: Call) -> None:
    """CSV is RFC 4180 with a header, one row for each change."""
    out = call("--home", changed, "changes", "--format", "csv").out.decode()
    assert out.count("\r\n") == 4
    rows = list(csv.DictReader(io.StringIO(out)))
    document = call("--home", changed, "changes", "--json").json["changes"]
    for name in ("at", "url", "title", "kind", "words_added", "words_removed"):
        assert [row[name] for row in rows] == [change[name] for change in document]
    assert [float(row["significance"]) for row in rows] == [change["significance"] for change in document]


def test_out(changed: Path, tmp_path: Path, call: Call) -> None:
    """--out replaces a file when the new one is complete; a folder that does not exist is reported."""
    out = tmp_path / "changes.txt"
    out.write_text("old")
    result = call("--home", changed, "changes", "--out", out)
    assert (result.code, result.text) == (0, "")
    assert out.read_text().splitlines()[1:] == call("--home", changed, "changes").text.splitlines()[1:]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("changes")] == ["changes.txt"]
    missing = call("--home", changed, "changes", "--out", tmp_path / "no" / "file")
    assert missing.code == 1
    assert "cannot write" in missing.err


def test_missing_archive(changed: Path, call: Call) -> None:
    """Changes whose contents are lost are listed without their words, and a message says what to do."""
    for file in (changed / "archive").iterdir():
        file.unlink()
    result = call("--home", changed, "changes")
    assert result.code == 0
    assert result.text.startswith("3 changes of 2 pages")
    assert "cannot be read from the archive" in result.err
    assert "webstrata check" in result.err


def test_hostile(hostile: Hostile, call: Call) -> None:
    """No text of a page reaches the terminal, a feed or a table with a control character in it."""
    for format_ in ("text", "csv", "atom"):
        out = call("--home", hostile.home, "changes", *EVER, "--format", format_).text
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", out), format_
    shown = on_a_terminal("--home", hostile.home, "changes", *EVER)
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    assert "\x9b" not in shown


def test_terminal(changed: Path) -> None:
    """On a terminal the URL is bold and the changed words stand out; NO_COLOR turns colours off."""
    shown = on_a_terminal("--home", changed, "changes", "--tag", "news")
    assert "\x1b[31m" in shown
    assert "\x1b[32m" in shown
    assert "\x1b[3" not in on_a_terminal("--home", changed, "changes", NO_COLOR="1")


def test_demo(demo: Demo, call: Call) -> None:
    """The changes of all pages are those that the logs of the pages have, newest first."""
    document = call("--home", demo.home, "changes", "--json", "--no-words", *EVER).json
    found = [(change["at"], change["url"]) for change in document["changes"]]
    assert [at for at, _ in found] == sorted((at for at, _ in found), reverse=True)
    pages = call("--home", demo.home, "list", "--changed", "--json").json["pages"]
    expected = {
        (visit["at"], page["url"])
        for page in pages
        for visit in call("--home", demo.home, "log", page["url"], "--json").json["visits"]
        if visit["changed"]
    }
    assert set(found) == expected
    assert document["pages"] == len({url for _, url in found})


def test_out_keeps_what_is_no_file(changed: Path, tmp_path: Path, call: Call) -> None:
    """A pipe is written to and a link is followed; neither is replaced by a file."""
    pipe, file, link = tmp_path / "pipe", tmp_path / "file.txt", tmp_path / "link.txt"
    os.mkfifo(pipe)
    file.write_text("old")
    link.symlink_to(file)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert call("--home", changed, "changes", "--out", pipe).code == 0
    reader.join()
    assert pipe.is_fifo()
    assert read[0].startswith(b"3 changes of 2 pages")
    assert call("--home", changed, "changes", "--out", link).code == 0
    assert link.is_symlink()
    assert file.read_text().startswith("3 changes of 2 pages")
