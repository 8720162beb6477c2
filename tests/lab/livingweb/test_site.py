"""One site's responses at instants: content, validators, missing pages, folders, robots.txt and sitemap."""

from __future__ import annotations

import zlib
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from tests.lab.livingweb.recordings import DAY, T0, boost
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.site import ServedResponse, ServedSite

PLAIN = SiteBehaviour(address="127.0.0.2")


def get(
    target: str, day: float = 0.0, behaviour: SiteBehaviour = PLAIN, **headers: str
) -> tuple[ServedResponse, dict[str, str]]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    response = ServedSite(boost(), behaviour).respond(target, sent, T0 + day * DAY)
    return response, {name.lower(): value for name, value in response.headers}


TARGETS = [
    ("/", 0, 200, b"first"),
    ("/index.html", 0, 200, b"first"),
    ("/?utm=1", 3, 200, b"second"),
    ("/users/", 0, 200, b"users"),
    ("/users", 0, 301, b""),
    ("/news/a%20b.html", 1, 200, b"two"),
    ("/news/a%20b.html", 2, 404, b"removed"),
    ("/news/a%20b.html", 4, 200, b"three"),
    ("/late.html", 0, 404, b"no such page"),
    ("/late.html", 5, 200, b"late"),
    ("/nothing", 0, 404, b"no such page"),
    ("/%ff%00/..", 0, 404, b"no such page"),
    ("/robots.txt", 0, 200, b"User-agent: *"),
    ("/sitemap.xml", 0, 404, b"no such page"),
]


@pytest.mark.parametrize(("target", "day", "status", "body"), TARGETS)
def test_targets(target: str, day: float, status: int, body: bytes) -> None:
    """Every target has the status and the content of the instant."""
    response, _ = get(target, day)
    assert response.status == status
    assert body in response.body


def test_deleted_pages_may_have_status_410() -> None:
    """A site may respond with 410 for a deleted page, but not for one that never existed."""
    behaviour = replace(PLAIN, gone_status=410)
    assert get("/news/a%20b.html", 2, behaviour)[0].status == 410
    assert get("/late.html", 2, behaviour)[0].status == 404


@pytest.mark.parametrize("etag", [True, False])
@pytest.mark.parametrize("last_modified", [True, False])
def test_not_modified_only_by_validators_that_the_site_sends(etag: bool, last_modified: bool) -> None:
    """A validator that the site sends gets a 304 until the content changes; one that it does not send gets 200."""
    behaviour = replace(PLAIN, etag=etag, last_modified=last_modified)
    _, given = get("/", 0, behaviour)
    assert ("etag" in given, "last-modified" in given) == (etag, last_modified)
    _, all_given = get("/", 0)
    tag, date = all_given["etag"], all_given["last-modified"]
    assert get("/", 1, behaviour, if_none_match=tag)[0].status == (304 if etag else 200)
    assert get("/", 1, behaviour, if_modified_since=date)[0].status == (304 if last_modified else 200)
    assert get("/", 3, behaviour, if_none_match=tag)[0].status == 200
    assert get("/", 3, behaviour, if_modified_since=date)[0].status == 200


CONDITIONS = [
    ({"if_none_match": "*"}, 304),
    ({"if_none_match": '"other", W/{tag}'}, 304),
    ({"if_none_match": '"other"'}, 200),
    ({"if_none_match": '"other"', "if_modified_since": "{date}"}, 200),
    ({"if_none_match": "{tag}", "if_modified_since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 304),
    ({"if_modified_since": "not a date"}, 200),
    ({"if_modified_since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
]


@pytest.mark.parametrize(("headers", "status"), CONDITIONS)
def test_conditions(headers: dict[str, str], status: int) -> None:
    """If-None-Match takes precedence over If-Modified-Since; an invalid date is ignored."""
    _, given = get("/")
    filled = {name: value.format(tag=given["etag"], date=given["last-modified"]) for name, value in headers.items()}
    response, _ = get("/", 1, PLAIN, **filled)
    assert response.status == status
    assert bool(response.body) == (status == 200)


CODINGS = [
    ("gzip", True),
    ("br, GZIP;q=0.5", True),
    ("*", True),
    ("gzip;q=0", False),
    ("br", False),
    ("", False),
]


@pytest.mark.parametrize(("accepted", "coded"), CODINGS)
def test_gzip_if_accepted(accepted: str, coded: bool) -> None:
    """A client that accepts gzip gets it, with the same content, a different tag, and 304 for either tag."""
    plain, plain_headers = get("/")
    response, headers = get("/", accept_encoding=accepted)
    assert (headers.get("content-encoding") == "gzip") == coded
    body = zlib.decompress(response.body, 31) if coded else response.body
    assert body == plain.body
    assert (headers["etag"] != plain_headers["etag"]) == coded
    assert get("/", accept_encoding=accepted, if_none_match=plain_headers["etag"])[0].status == 304
    assert get("/", if_none_match=headers["etag"])[0].status == 304


def test_some_sites_do_not_compress() -> None:
    """A site without gzip never compresses; small contents are never compressed."""
    assert "content-encoding" not in get("/", 0, replace(PLAIN, gzip=False), accept_encoding="gzip")[1]
    assert "content-encoding" not in get("/users/", 0, accept_encoding="gzip")[1]


def test_the_sitemap_lists_what_exists_and_is_allowed() -> None:
    """The sitemap has each page that exists and is allowed, once, with the time of its last publication."""
    behaviour = replace(PLAIN, sitemap=True, disallow=("/news/",))
    tree = ElementTree.fromstring(get("/sitemap.xml", 3.5, behaviour)[0].body)
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    listed = {url.findtext(f"{space}loc"): url.findtext(f"{space}lastmod") for url in tree}
    assert set(listed) == {
        "http://boost.test/",
        "http://boost.test/users/",
        "http://boost.test/latin.html",
        "http://boost.test/data.csv",
    }
    assert listed["http://boost.test/"] == "2023-01-04T00:00:00Z"
    assert "/news/" in get("/robots.txt", 0, behaviour)[0].body.decode()
