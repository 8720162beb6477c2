"""Tags, hosts and lists that name no page: exit code 1 at once, with what is wrong, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, LocalServer

ONE = "http://one.example/"


@pytest.fixture
def tagged(home: Path, call: Call) -> Path:
    """A home with a page and a site, each with a tag."""
    assert call("--home", home, "watch", ONE, "--tag", "news").code == 0
    assert call("--home", home, "watch", "--site", "http://site.example/", "--tag", "docs").code == 0
    return home


BY_TAG = [
    ("interval", "--tag", "TAG", "--min", "1h"),
    ("interval", "--tag", "TAG", "--every", "6h"),
    ("interval", "--tag", "TAG", "--none"),
    ("rules", "--tag", "TAG"),
    ("rules", "--tag", "TAG", "--ignore", "css:.ad"),
    ("boost", "TAG"),
    ("boost", "TAG", "--end"),
    ("snooze", "--tag", "TAG", "--for", "1d"),
    ("snooze", "--tag", "TAG", "--end"),
    ("tag", "--tag", "TAG", "--add", "other"),
    ("tag", "--remove", "TAG"),
    ("list", "--tag", "TAG"),
    ("crawl", "--tag", "TAG"),
]


@pytest.mark.parametrize("words", BY_TAG, ids=" ".join)
def test_an_unknown_tag(words: tuple[str, ...], tagged: Path, call: Call) -> None:
    """A tag that no page and no site has is an error that names similar tags; nothing is stored for it."""
    result = call("--home", tagged, *("new" if word == "TAG" else word for word in words))
    assert (result.code, result.out) == (1, b""), result.text
    assert "no page or site has the tag 'new'. Similar tags: 'news'." in result.err
    assert call("--home", tagged, "interval", "--json").json["limits"] == []
    assert call("--home", tagged, "status", "--json").json["budget"]["boosts"] == []


@pytest.mark.parametrize("tag", ["news", "docs"])
@pytest.mark.parametrize("words", [words for words in BY_TAG if words[0] != "crawl"], ids=" ".join)
def test_a_known_tag(words: tuple[str, ...], tag: str, tagged: Path, call: Call) -> None:
    """The tag of a page or of a site is accepted."""
    result = call("--home", tagged, *(tag if word == "TAG" else word for word in words))
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("words", "removal"),
    [
        (("interval", "--tag", "later", "--min", "1h"), ("interval", "--tag", "later", "--none")),
        (("rules", "--tag", "later", "--layer", "raw"), ("rules", "--tag", "later", "--clear")),
    ],
)
def test_a_tag_is_prepared(words: tuple[str, ...], removal: tuple[str, ...], tagged: Path, call: Call) -> None:
    """--create sets the limits or rules of a tag before pages have it; what is set can be shown and removed."""
    refused = call("--home", tagged, *words)
    assert refused.code == 1
    assert "add --create" in refused.err
    assert call("--home", tagged, *words, "--create").code == 0
    assert call("--home", tagged, *words).code == 0, "it is known now"
    assert call("--home", tagged, *removal).code == 0
    assert call("--home", tagged, *removal).code == 1, "nothing is left of it"


def test_an_unknown_host(tagged: Path, call: Call) -> None:
    """A host of which no page is known is an error; a state that no page has is not."""
    result = call("--home", tagged, "list", "--host", "two.example")
    assert result.code == 1
    assert "no page of the host 'two.example' is known" in result.err
    assert call("--home", tagged, "list", "--host", "one.example", "--state", "paused").code == 0


LISTS = [("watch", "--from", "-"), ("crawl", "--from", "-"), ("plan", "--urls", "-"), ("capture", ONE, "--seeds", "-")]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_list_of_only_bad_lines(words: tuple[str, ...], tagged: Path, call: Call) -> None:
    """A list of only bad lines exits with code 1, and lists them."""
    result = call("--home", tagged, *words, stdin=b"# a comment\nnonsense\nhttp://host:port/\n")
    assert (result.code, result.out) == (1, b""), result.text
    assert "line 2: " in result.err
    assert "line 3: the port in 'http://host:port/' is not a number" in result.err
    assert "2 lines, all of them bad" in result.err
    assert call("--home", tagged, "status", "--json").json["visits"] == 0


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only this\n"])
def test_an_empty_list(words: tuple[str, ...], content: bytes, tagged: Path, call: Call) -> None:
    """An empty list exits with code 1, and says that it is empty."""
    result = call("--home", tagged, *words, stdin=content)
    assert (result.code, result.out) == (1, b""), result.text
    assert "the list on stdin names no page: it is empty" in result.err


def test_a_list_with_bad_lines(tagged: Path, call: Call) -> None:
    """The good lines of a list are used, exit code 0; with --strict none is used, exit code 1."""
    listed = b"http://two.example/\nnonsense\n"
    strict = call("--home", tagged, "watch", "--from", "-", "--strict", stdin=listed)
    assert strict.code == 1
    assert "line 2: " in strict.err
    assert "leave out --strict" in strict.err
    result = call("--home", tagged, "watch", "--from", "-", "--json", stdin=listed)
    assert (result.code, result.json["new"], len(result.json["bad"])) == (0, 1, 1)


def test_a_crawl_of_a_list_with_bad_lines(home: Path, server: LocalServer, call: Call) -> None:
    """A crawl visits the watched pages of a list, and lists the lines that are none."""
    server.pages["/a"] = ("text/html", b"<title>t</title><p>hello")
    call("--home", home, "watch", server.url("/a"))
    listed = f"{server.url('/b')}\n{server.url('/a')}\n".encode()
    result = call("--home", home, "crawl", "--from", "-", "--json", stdin=listed, **server.settings)
    assert (result.code, result.json["visits"]) == (0, 1)
    assert "line 1: " in result.err
    assert "is not watched" in result.err
