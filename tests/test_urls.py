"""URLs: canonical form, links, parts, scope, traps, SURT keys, public IP addresses."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webstrata import urls
from webstrata.errors import BadUrl

KEYS = [
    ("HTTP://EXAMPLE.org", "http://example.org/"),
    ("http://example.org:80/a#frag", "http://example.org/a"),
    ("https://example.org:443/?q#f", "https://example.org/?q"),
    ("http://example.org/a/../b/./c", "http://example.org/b/c"),
    ("  http://example.org/a b  ", "http://example.org/a%20b"),
    ("http://bücher.example/ä?ö", "http://xn--bcher-kva.example/%C3%A4?%C3%B6"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://[::FFFF:1.2.3.4]:8080/", "http://[::ffff:102:304]:8080/"),
    ("http:\\\\example.org\\a", "http://example.org/a"),
    ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
    ("http://www.example.org/A?b&a", "http://www.example.org/A?b&a"),
]

REFUSED = [
    ("", "not a URL"),
    ("example.org/page", "Write the whole URL"),
    ("http://", "not a URL"),
    ("http://../a", "no host"),
    ("http://exa mple.org/", "not a URL"),
    ("ftp://example.org/", "only http and https URLs"),
    ("javascript:alert(1)", "only http and https URLs"),
    ("file:///etc/passwd", "only http and https URLs"),
    ("http://user:secret@example.org/", "Remove the credentials"),
    ("http://example.org/" + "a" * 9000, "longer than"),
]


@pytest.mark.parametrize(("url", "key"), KEYS)
def test_canonical_is_the_whatwg_serialisation_without_fragment(url: str, key: str) -> None:
    """Different notations of one URL have the same canonical form."""
    assert urls.canonical(url) == key


@pytest.mark.parametrize(("url", "text"), REFUSED)
def test_what_cannot_be_visited_is_refused_with_a_reason(url: str, text: str) -> None:
    """A bad URL raises BadUrl, and its message says what to do."""
    with pytest.raises(BadUrl, match=text) as refused:
        urls.canonical(url)

    assert "secret" not in str(refused.value)
    assert len(str(refused.value)) < 300


@given(st.one_of(st.text(), st.text().map("http://example.org/".__add__), st.text().map("http://".__add__)))
@example("http://example.org/#?#")
@example("http://a%2Fb/")
def test_canonical_is_idempotent(text: str) -> None:
    """The canonical form of a canonical URL is itself, and no exception but BadUrl is raised."""
    try:
        key = urls.canonical(text)
    except BadUrl:
        return

    assert urls.canonical(key) == key
    assert urls.origin(key) + urls.path_of(key) == key
    assert urls.port_of(key) > -1
    assert urls.join("http://example.org/", key) == key
    assert isinstance(urls.surt(key), str)


LINKS = [
    ("b", "http://example.org/dir/b"),
    ("/b#x", "http://example.org/b"),
    ("//other.example/c", "http://other.example/c"),
    ("?q=1", "http://example.org/dir/page?q=1"),
    ("#top", "http://example.org/dir/page"),
    ("", "http://example.org/dir/page"),
    (" https://example.org/a\n/b ", "https://example.org/a/b"),
    ("mailto:a@example.org", None),
    ("javascript:void(0)", None),
    ("http://user@example.org/", None),
    ("http://[broken", None),
    ("http://./", None),
    ("data:text/plain,x", None),
    ("/\udfff", "http://example.org/%EF%BF%BD"),
    ("/" + "a" * 9000, None),
]


@pytest.mark.parametrize(("href", "target"), LINKS)
def test_join_gives_canonical_links_or_none(href: str, target: str | None) -> None:
    """A link resolves to a canonical URL or to None."""
    assert urls.join("http://example.org/dir/page", href) == target


@given(st.text())
def test_join_never_raises(href: str) -> None:
    """For every text in a link the result is a canonical URL or None."""
    target = urls.join("http://example.org/a/", href)

    assert target is None or urls.canonical(target) == target


PARTS = [
    ("http://example.org/", "http://example.org", "example.org", 80),
    ("https://example.org/a?b", "https://example.org", "example.org", 443),
    ("http://example.org:8080/", "http://example.org:8080", "example.org", 8080),
    ("http://example.org./x", "http://example.org.", "example.org", 80),
    ("http://[::1]:81/x", "http://[::1]:81", "::1", 81),
    ("https://[2001:db8::1]/", "https://[2001:db8::1]", "2001:db8::1", 443),
]


@pytest.mark.parametrize(("url", "origin", "host", "port"), PARTS)
def test_parts_of_a_canonical_url(url: str, origin: str, host: str, port: int) -> None:
    """Origin, host and port are taken from the canonical form."""
    assert (urls.origin(url), urls.host_of(url), urls.port_of(url)) == (origin, host, port)


DOMAINS = [
    ("www.example.co.uk", "example.co.uk"),
    ("example.org.", "example.org"),
    ("boost.test", "boost.test"),
    ("co.uk", None),
    ("127.0.0.1", None),
    ("::1", None),
    ("", None),
]


@pytest.mark.parametrize(("host", "domain"), DOMAINS)
def test_registrable_domain(host: str, domain: str | None) -> None:
    """The registrable domain follows the Public Suffix List; addresses and public suffixes have none."""
    assert urls.registrable_domain(host) == domain


SEED = "https://www.example.co.uk/docs/index.html?v=1"
SCOPES = [
    ("https://www.example.co.uk/docs/a", True, True, True),
    ("http://www.example.co.uk/docs/a/b?c", True, True, True),
    ("https://www.example.co.uk/docs", False, True, True),
    ("https://www.example.co.uk/other", False, True, True),
    ("https://example.co.uk/docs/", False, False, True),
    ("https://www.example.co.uk:8080/docs/", False, False, True),
    ("https://other.co.uk/docs/", False, False, False),
]


@pytest.mark.parametrize(("url", "prefix", "host", "domain"), SCOPES)
def test_in_scope(url: str, prefix: bool, host: bool, domain: bool) -> None:
    """`prefix` is the folder of the start page, `host` the same host and port, `domain` the same registrable domain."""
    assert urls.in_scope(url, SEED, "prefix") is prefix
    assert urls.in_scope(url, SEED, "host") is host
    assert urls.in_scope(url, SEED, "domain") is domain


def test_addresses_are_their_own_domain() -> None:
    """Two IP addresses never have the same domain."""
    assert urls.in_scope("http://10.0.0.1/a", "http://10.0.0.1/", "domain")
    assert not urls.in_scope("http://10.0.0.2/a", "http://10.0.0.1/", "domain")


TRAPS = [
    ("/" + "a" * 2100, "longer than"),
    ("/a/b" * 11, "deep"),
    ("/x/y/x/y/x/y/", "is repeated"),
    ("/a/a/a", "is repeated"),
    ("/a/1/a/2/a/3/a/", "occurs"),
    ("/s?" + "&".join(f"p{n}=1" for n in range(30)), "query parameters"),
    ("/calendar/2931-05", "calendar"),
    ("/events?date=0031", "calendar"),
    ("/view?year=2199&month=3", "calendar"),
]

NO_TRAPS = [
    "/",
    "/2024/01/01/01/story.html",
    "/events/1234",
    "/calendar/2026-05",
    "/a/b/a/c/index.html?page=2&year=2024",
    "/wiki/Events_of_1848",
    "/docs/docs/api",
]


@pytest.mark.parametrize(("path", "reason"), TRAPS)
def test_traps_are_named(path: str, reason: str) -> None:
    """The reason is returned for a link into a crawler trap."""
    assert reason in (urls.looks_like_trap(f"http://example.org{path}") or "")


@pytest.mark.parametrize("path", NO_TRAPS)
def test_ordinary_pages_are_no_traps(path: str) -> None:
    """Ordinary URLs are not traps."""
    assert urls.looks_like_trap(f"http://example.org{path}") is None


def test_a_calendar_ends_some_years_from_now() -> None:
    """With the current time given, a calendar page of next month passes and one of the far future does not."""
    now = 1_790_000_000.0  # 2026

    assert urls.looks_like_trap("http://example.org/calendar/2027-01/", now) is None
    assert urls.looks_like_trap("http://example.org/calendar/2040-01/", now)


KEYS_OF_ARCHIVES = [
    ("https://www.Example.org:443/A/?b=2&a=1", "org,example)/a?a=1&b=2"),
    ("http://example.org:8080/", "org,example:8080)/"),
    ("http://example.org/x;y/?", "org,example)/x;y"),
    ("http://[2001:db8::1]:81/x", "2001:db8::1:81)/x"),
    ("http://10.0.0.1/", "1,0,0,10)/"),
    ("http://example.org/%7Ea/%2525", "org,example)/~a/%25"),
    ("http://example.org/?sid=9682993c8daa2c5497996114facdc805&x=y", "org,example)/?x=y"),
    ("urn:uuid:1", "urn:uuid:1"),
    ("dns:example.org", "dns:example.org"),
    ("metadata:a b", "metadata:a%20b"),
    ("", "-"),
]


@pytest.mark.parametrize(("url", "key"), KEYS_OF_ARCHIVES)
def test_surt_is_the_key_that_archives_use(url: str, key: str) -> None:
    """The CDXJ key is that of other archive tools."""
    assert urls.surt(url) == key


@given(st.text())
def test_surt_never_raises(text: str) -> None:
    """Every text has a key that is valid as the first field of a CDXJ line."""
    key = urls.surt(text)

    assert key
    assert not set(key) & set(" \t\r\n\x00")


def test_surt_of_deeply_escaped_text_is_quick() -> None:
    """Nested escapes take time linear in their length."""
    started = time.thread_time()

    assert urls.surt("http://example.org/%" + "25" * 200_000 + "41") == "org,example)/a"
    assert time.thread_time() - started < 0.5


PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "192.0.1.1"]
NOT_PUBLIC = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.254", "127.0.0.1", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.9", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1",
    "2001::1", "2001:0:4136:e378::1", "2001:2::1", "2001:10::1", "2001:db8::1", "2002:808:808::1", "2002:7f00:1::",
    "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "2606:2800:220:1::1%eth0", "localhost", "example.org", "", "0x7f.1", "127.1", "010.0.0.1", "8.8.8.8 ", "[::1]",
    "8.8.8.8:80", "1.2.3.4.5",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_globally_routable_addresses_are_public(address: str) -> None:
    """Global unicast addresses, and IPv6 forms of public IPv4 addresses, are public."""
    assert urls.is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_all_other_addresses_are_not_public(address: str) -> None:
    """Private, special, multicast, tunnelled and scoped addresses, and texts that are no address, are not public."""
    assert not urls.is_public(address)
