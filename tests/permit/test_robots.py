"""robots.txt is parsed by RFC 9309 and by the documented choices."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from webstrata.permit.robots import LIMIT, Robots

ANYBODY = "User-agent: *\n"


def allows(text: str, path: str, agent: str = "webstrata") -> bool:
    return Robots.parse(text.encode()).allows(agent, f"http://example.org{path}")


MATCHES = [
    ("Disallow: /a", "/a", False),
    ("Disallow: /a", "/ab?c", False),
    ("Disallow: /a", "/b", True),
    ("Disallow:", "/b", True),
    ("Disallow: /\nAllow: /a/b", "/a/b/c", True),
    ("Allow: /a\nDisallow: /a", "/a", True),
    ("Disallow: /*.pdf$", "/x/y.pdf", False),
    ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
    ("Disallow: /a*b*c", "/a-c-b", True),
    ("Disallow: /a*b*c", "/a-b-cx", False),
    ("Disallow: *", "/", False),
    ("Disallow: /a$b", "/a$bc", False),
    ("Disallow: /a*a$", "/a", True),
    ("Disallow: /ä", "/%C3%A4", False),
    ("Disallow: /%c3%a4", "/ä", False),
    ("Disallow: /%62", "/b", False),
    ("Disallow: /\nAllow: /%62", "/b", False),
    ("Disallow: /a%2Fb", "/a/b", True),
    ("Disallow: /x # not this", "/x", False),
    ("Dissalow: /x", "/x", False),
    ("disallow /x", "/x", False),
    ("Disallow: x", "/x", True),
]


@pytest.mark.parametrize(("rules", "path", "allowed"), MATCHES)
def test_rules_match_paths(rules: str, path: str, allowed: bool) -> None:
    """The longest rule that matches decides; of two equally long rules the one that allows."""
    assert allows(ANYBODY + rules, path) is allowed


AGENTS = [
    ("User-agent: webstrata\nDisallow: /\nUser-agent: *\nDisallow:\n", "webstrata", False),
    ("User-agent: WebStrata/2.0\nDisallow: /\n", "webstrata/0.1 (+https://example.org)", False),
    ("User-agent: webstrata-news\nDisallow: /\n", "webstrata", True),
    ("User-agent: other\nUser-agent: webstrata\nDisallow: /\n", "webstrata", False),
    ("User-agent: webstrata\nSitemap: /s\nUser-agent: other\nDisallow: /\n", "webstrata", False),
    ("User-agent: webstrata\nAllow: /x\n\nUser-agent: webstrata\nDisallow: /\n", "webstrata", False),
    ("User-agent: *\nDisallow: /\nUser-agent: webstrata\nDisallow: /x\n", "webstrata", True),
    ("Disallow: /\n", "webstrata", True),
]


@pytest.mark.parametrize(("text", "agent", "allowed"), AGENTS)
def test_groups_are_chosen_by_product_token(text: str, agent: str, allowed: bool) -> None:
    """All groups of the product token apply together; if there is none, those of `*` apply."""
    assert allows(text, "/page", agent) is allowed


STATUSES = [
    (200, False), (204, False), (301, True), (400, True), (401, True), (403, True), (404, True), (410, True),
    (429, False), (500, False), (503, False), (599, False), (0, False),
]  # fmt: skip


@pytest.mark.parametrize(("status", "allowed"), STATUSES)
def test_status_without_file(status: int, allowed: bool) -> None:
    """4xx and unusable redirects forbid nothing; 429, 5xx and no response forbid everything except robots.txt."""
    robots = Robots.parse(b"User-agent: *\nDisallow: /", status)

    assert robots.allows("webstrata", "http://example.org/page") is allowed
    assert robots.allows("webstrata", "http://example.org/robots.txt")


ENCODINGS = [
    b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
    b"\xefUser-agent: *\nDisallow: /x",
    b"User-agent: *\rDisallow: /x\r",
    b"User-agent: *\r\nDisallow: /x\r\n",
    "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-le"),
    "\ufeffUser-agent: *\nDisallow: /x".encode("utf-16-be"),
    "User-agent: *\nDisallow: /x".encode("utf-16-le"),
    "User-agent: *\nDisallow: /x".encode("utf-16-be") + b"\x00",
    b"User-agent: *\nDisallow: /\xff\nDisallow: /x",
    b"\x00\xff\nUser-agent: *\nDisallow: /x",
]


@pytest.mark.parametrize("body", ENCODINGS)
def test_encodings_and_line_ends(body: bytes) -> None:
    """Rules are parsed despite byte order marks, UTF-16, any line ends and invalid bytes."""
    robots = Robots.parse(body)

    assert not robots.allows("webstrata", "http://example.org/x")
    assert robots.allows("webstrata", "http://example.org/y")


def test_bytes_that_are_not_utf8_match_their_escapes() -> None:
    """A rule in another encoding matches the percent-encoding of its bytes."""
    robots = Robots.parse("User-agent: *\nDisallow: /é".encode("latin-1"))

    assert not robots.allows("webstrata", "http://example.org/%E9")
    assert robots.allows("webstrata", "http://example.org/%C3%A9")


def test_files_are_parsed_up_to_the_limit() -> None:
    """A rule before the limit applies; the line that the limit cuts does not."""
    start = ANYBODY.encode()
    inside = start.ljust(500 * 1024, b"#") + b"\nDisallow: /x\n"
    cut = start + b"Disallow: /a\n" + b"#".ljust(LIMIT - len(start) - 26, b"#") + b"\nDisallow: /longer\n"

    assert not Robots.parse(inside).allows("webstrata", "http://example.org/x")
    assert Robots.parse(cut).allows("webstrata", "http://example.org/l")
    assert not Robots.parse(cut).allows("webstrata", "http://example.org/a")


DELAYS = [
    ("User-agent: *\nCrawl-delay: 7", 7.0),
    ("User-agent: *\ncrawl-delay : 0.5\nDisallow: /", 0.5),
    ("User-agent: *\nCrawl-delay: 3\nUser-agent: *\nCrawl-delay: 9", 9.0),
    ("User-agent: webstrata\nDisallow:\nUser-agent: *\nCrawl-delay: 9", None),
    ("User-agent: webstrata\nCrawl-delay: 10\nUser-agent: other\nCrawl-delay: 20\nDisallow: /", 20.0),
    ("User-agent: other\nCrawl-delay: 10\nUser-agent: webstrata\nDisallow: /", None),
    ("User-agent: *\nCrawl-delay: -5", None),
    ("User-agent: *\nCrawl-delay: nan", None),
    ("User-agent: *\nCrawl-delay: inf", None),
    ("User-agent: *\nCrawl-delay: soon", None),
    ("Crawl-delay: 5", None),
]


@pytest.mark.parametrize(("text", "delay_s"), DELAYS)
def test_crawl_delay(text: str, delay_s: float | None) -> None:
    """The longest valid Crawl-delay of the group applies."""
    assert Robots.parse(text.encode()).crawl_delay("webstrata") == delay_s


def test_sitemaps_are_independent_of_groups() -> None:
    """Sitemap lines are collected from the whole file, without duplicates."""
    text = b"Sitemap: http://a.example/1\nUser-agent: x\nSITEMAP: /2\nDisallow: /\nSitemap: http://a.example/1\n"

    assert Robots.parse(text).sitemaps == ("http://a.example/1", "/2")


def test_reasons() -> None:
    """A ruling names the line that decided."""
    robots = Robots.parse(b"User-agent: *\nDisallow: /x*y")

    assert robots.ruling("webstrata", "http://example.org/xay").why == "Disallow: /x*y"


def test_hostile_files_are_cheap() -> None:
    """Files with many stars, rules or agents are parsed and matched quickly."""
    stars = b"User-agent: *\nDisallow: /" + b"a*" * 100_000 + b"b$\n"
    rules = ANYBODY.encode() + b"".join(b"Disallow: /%d\n" % number for number in range(30_000))
    names = (f"User-agent: {'_' * (number % 40)}{'a' * (number // 40 + 1)}\n" for number in range(4000))
    agents = "".join(names).encode()[: LIMIT // 2] + b"\nDisallow: /b\n" * 18_000
    delays = b"User-agent: a\nCrawl-delay: 1\n" * 17_000
    started = time.thread_time()

    for body in (stars, rules, agents, delays):
        robots = Robots.parse(body)
        robots.allows("a", "http://example.org/" + "a" * 5000)
        robots.crawl_delay("a")

    assert time.thread_time() - started < 5


@given(st.binary(), st.text(), st.text())
def test_any_bytes_are_accepted(body: bytes, agent: str, url: str) -> None:
    """No file, agent or URL raises an exception."""
    robots = Robots.parse(body)

    assert robots.allows(agent, url) in (True, False)


_PATH = st.text(alphabet="abc/*$", max_size=6).map("/".__add__)


@given(st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), _PATH), max_size=6), _PATH)
def test_protego_agrees_on_plain_files(rules: list[tuple[str, str]], path: str) -> None:
    """Protego gives the same result on files without disputed features."""
    plain = [(name, pattern) for name, pattern in rules if "$" not in pattern[:-1] and "**" not in pattern]
    target = path.replace("*", "x").replace("$", "y")
    text = ANYBODY + "".join(f"{name}: {pattern}\n" for name, pattern in plain)

    assert allows(text, target) == Protego.parse(text).can_fetch(f"http://example.org{target}", "webstrata")
