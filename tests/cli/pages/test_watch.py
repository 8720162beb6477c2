"""`webstrata watch`: single pages, lists of pages, and sites."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Call

LIST = (
    "\ufeff# my pages\r\n"
    "http://one.example/\r\n"
    "\r\n"
    "  http://two.example/ \t2.5\tnews, daily\r\n"
    "not a url\r\n"
    "http://three.example/\t\tscience\r\n"
    "ftp://four.example/\r\n"
    "five.example/page\r\n"
    "http://six.example/\theavy\r\n"
    "http://seven.example/\tnan\r\n"
    "http://ONE.example:80/#again\r\n"
    "http://m\u00fcnchen.example/stra\u00dfe\r\n"
)
BAD = [5, 7, 8, 9, 10]


@pytest.mark.parametrize("source", ["file", "stdin"])
@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r"])
def test_list(source: str, ending: str, home: Path, tmp_path: Path, call: Call) -> None:
    """Lists may have comments, tabs, a byte order mark and any line ending; bad lines are reported and skipped."""
    content = LIST.replace("\r\n", ending).encode()
    (tmp_path / "pages.txt").write_bytes(content)
    named = tmp_path / "pages.txt" if source == "file" else "-"

    result = call("--home", home, "watch", "--from", named, "--tag", "mine", "--json", stdin=content)

    assert result.code == 0
    assert (result.json["new"], result.json["known"]) == (4, 1)
    assert [bad["line"] for bad in result.json["bad"]] == BAD
    assert [line.split(":")[0] for line in result.err.splitlines()] == [f"line {number}" for number in BAD]
    pages = {page["url"]: page for page in call("--home", home, "list", "--json").json["pages"]}
    assert pages.keys() == {
        "http://one.example/",
        "http://two.example/",
        "http://three.example/",
        "http://xn--mnchen-3ya.example/stra%C3%9Fe",
    }
    assert pages["http://two.example/"]["weight"] == 2.5
    assert set(pages["http://two.example/"]["tags"]) == {"mine", "news", "daily"}
    assert set(pages["http://three.example/"]["tags"]) == {"mine", "science"}


def test_advice_for_bad_lines(home: Path, call: Call) -> None:
    """The message about a bad line says how to correct it."""
    result = call("--home", home, "watch", "--from", "-", stdin=LIST.encode())

    assert "Did you mean https://five.example/page" in result.err
    assert "'heavy' is not a number of at least 0" in result.err
    assert result.text.startswith("4 new, 1 already known, 5 bad lines skipped\n")
    assert "webstrata crawl" in result.text


NAUGHTY = [
    b"",
    b"\x00\x01\x02",
    b"\xff\xfe\xfd",
    b"http://\x00/",
    b"\x1b[31mhttp://red.example/\x1b[0m",
    "\u202ehttp://backwards.example/".encode(),
    b"http://" + b"a" * 10_000 + b".example/",
    b"http://long.example/" + b"x" * 100_000,
    b"javascript:alert(1)",
    b"file:///etc/passwd",
    b"http://user:hunter2@secret.example/",
    b"' OR 1=1; DROP TABLE pages; --",
    b"<script>alert(1)</script>",
    b"http://example.org/%",
    b"http://example.org/%zz\t1\t" + b"tag," * 1000,
    b"http://256.256.256.256/",
    b"http://[::1",
    b"http://host:99999/",
    "http://\U0001f4a9.example/\U0001f4a9".encode(),
    "http://z\u0336\u0321a.example/\u0000".encode(),
    b"\t\t\t",
    b"http://tags.example/\t1\t\x1b[2J,' OR 1=1,\xf0\x9f\x92\xa9",
]


def test_naughty_lines(home: Path, call: Call) -> None:
    """Malformed and malicious lines do not stop the list, and no control character reaches the terminal."""
    result = call("--home", home, "watch", "--from", "-", stdin=b"\n".join(NAUGHTY) + b"\nhttp://good.example/\n")

    listed = call("--home", home, "list")

    assert result.code == 0, result.err
    assert "http://good.example/" in listed.text
    for text in (result.err, result.text, listed.text, listed.err):
        assert not any(char in text for char in "\x00\x1b\u202e")
    assert "hunter2" not in result.err + listed.text
    assert call("--home", home, "status", "--json").json["pages"] == len(listed.text.splitlines()) - 1


def test_again_is_harmless(home: Path, call: Call) -> None:
    """Watching a page again, in any notation, adds nothing; `unwatch` pauses it and `watch` resumes it."""
    page = "http://one.example/"
    assert call("--home", home, "watch", page, "HTTP://One.Example:80/#x", "--json").json["new"] == 1
    assert call("--home", home, "watch", page, "--json").json == {
        "new": 0,
        "known": 1,
        "site": None,
        "bad": [],
        "limit_demand": None,
    }

    stopped = call("--home", home, "unwatch", page)
    assert (stopped.code, stopped.text) == (0, "1 page no longer watched. Archived versions are kept.\n")
    paused = call("--home", home, "list", "--state", "paused", "--json").json["pages"]
    assert [one["url"] for one in paused] == [page]
    assert call("--home", home, "list", "--state", "active", "--json").json["pages"] == []

    call("--home", home, "watch", page)
    assert call("--home", home, "list", "--state", "paused", "--json").json["pages"] == []
    assert call("--home", home, "status", "--json").json["pages"] == 1


def test_nothing_taken_from_a_bad_argument(home: Path, call: Call) -> None:
    """If one of the URLs in the arguments is bad, no page is added."""
    assert call("--home", home, "watch", "http://one.example/", "nonsense").code == 2
    assert call("--home", home, "list", "--json").json == {"pages": []}


def test_site(home: Path, call: Call) -> None:
    """A site is stored with its start page and its sitemap."""
    result = call("--home", home, "watch", "--site", "http://one.example/docs/", "--max-pages", "50")

    assert "The pages of http://one.example/docs/ are discovered during visits (at most 50 pages)." in result.text
    assert call("--home", home, "status", "--json").json["sites"] == 1
    assert call("--home", home, "watch", "--site", "http://one.example/docs/", "--json").json["new"] == 0


def test_many(home: Path, tmp_path: Path, call: Call, record_property: Callable[[str, object], None]) -> None:
    """100,000 URLs are added in less than a minute."""
    many = tmp_path / "many.txt"
    many.write_text("".join(f"http://host{n % 5000}.example/page/{n}\t1.5\tbulk\n" for n in range(100_000)))

    began = time.monotonic()
    result = call("--home", home, "watch", "--from", many, "--json")
    took_s = time.monotonic() - began

    record_property("seconds", round(took_s, 1))
    assert result.json["new"] == 100_000
    assert took_s < 60
    status = call("--home", home, "status", "--json").json
    assert (status["pages"], status["hosts"], status["due"]) == (100_000, 5000, 100_000)


def test_again_keeps_what_is_not_given(home: Path, call: Call) -> None:
    """Weight, rules and tags of a watched page stay; rules that are given are added to them."""
    page = "http://one.example/"
    call("--home", home, "watch", page, "--weight", 3, "--tag", "a", "--select", "css:main", "--layer", "text")
    for words in ((), ("--tag", "b"), ("--ignore", "css:.ad"), ("--ignore", "css:.ad", "--ignore-text", "[0-9]+")):
        result = call("--home", home, "watch", page, *words)
        assert (result.code, result.text.splitlines()[0]) == (0, "0 new, 1 already known")
        assert "keep their schedule" in result.text
    (listed,) = call("--home", home, "list", "--json").json["pages"]
    assert (listed["weight"], listed["tags"]) == (3.0, ["a", "b"])
    rules = call("--home", home, "rules", page, "--json").json["rules"]
    assert rules == {"layer": "text", "include": ["css:main"], "ignore": ["css:.ad"], "ignore_text": ["[0-9]+"]}

    call("--home", home, "watch", page, "--weight", 0.5, "--layer", "main")
    (listed,) = call("--home", home, "list", "--json").json["pages"]
    assert listed["weight"] == 0.5
    assert call("--home", home, "rules", page, "--json").json["rules"] == {**rules, "layer": "main"}
