"""One site's answers at instants: content, validators, absence, folders, robots.txt and sitemap."""

from __future__ import annotations

import zlib
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from tests.lab.livingweb.recordings import DAY, T0, boost
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.site import ServedResponse, ServedSite

PLAIN = SiteBehaviour(address="127.0.0.2")


def ask(
    target: str, day: float = 0.0, manners: SiteBehaviour = PLAIN, **headers: str
) -> tuple[ServedResponse, dict[str, str]]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = ServedSite(boost(), manners).answer(target, sent, T0 + day * DAY)
    return answer, {name.lower(): value for name, value in answer.headers}


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
    """Every target has the status and the content of its moment."""
    answer, _ = ask(target, day)
    assert answer.status == status
    assert body in answer.body


def test_deleted_pages_may_be_gone_for_good() -> None:
    """A site may answer 410 for what was deleted, but never for what never was."""
    manners = replace(PLAIN, gone_status=410)
    assert ask("/news/a%20b.html", 2, manners)[0].status == 410
    assert ask("/late.html", 2, manners)[0].status == 404


@pytest.mark.parametrize("etag", [True, False])
@pytest.mark.parametrize("last_modified", [True, False])
def test_not_modified_only_by_validators_that_the_site_gives(etag: bool, last_modified: bool) -> None:
    """What a site sent as a validator earns a 304 until the content changes; what it never sent earns none."""
    manners = replace(PLAIN, etag=etag, last_modified=last_modified)
    _, given = ask("/", 0, manners)
    assert ("etag" in given, "last-modified" in given) == (etag, last_modified)
    _, all_given = ask("/", 0)
    tag, date = all_given["etag"], all_given["last-modified"]
    assert ask("/", 1, manners, if_none_match=tag)[0].status == (304 if etag else 200)
    assert ask("/", 1, manners, if_modified_since=date)[0].status == (304 if last_modified else 200)
    assert ask("/", 3, manners, if_none_match=tag)[0].status == 200
    assert ask("/", 3, manners, if_modified_since=date)[0].status == 200


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
    """The entity tag decides where one is sent; nonsense is no condition."""
    _, given = ask("/")
    filled = {name: value.format(tag=given["etag"], date=given["last-modified"]) for name, value in headers.items()}
    answer, _ = ask("/", 1, **filled)
    assert answer.status == status
    assert bool(answer.body) == (status == 200)


CODINGS = [
    ("gzip", True),
    ("br, GZIP;q=0.5", True),
    ("*", True),
    ("gzip;q=0", False),
    ("br", False),
    ("", False),
]


@pytest.mark.parametrize(("accepted", "coded"), CODINGS)
def test_gzip_where_wanted(accepted: str, coded: bool) -> None:
    """Who accepts gzip gets it, with the same content, a tag of its own, and 304 for either tag."""
    plain, plain_headers = ask("/")
    answer, headers = ask("/", accept_encoding=accepted)
    assert (headers.get("content-encoding") == "gzip") == coded
    body = zlib.decompress(answer.body, 31) if coded else answer.body
    assert body == plain.body
    assert (headers["etag"] != plain_headers["etag"]) == coded
    assert ask("/", accept_encoding=accepted, if_none_match=plain_headers["etag"])[0].status == 304
    assert ask("/", if_none_match=headers["etag"])[0].status == 304


def test_some_sites_do_not_compress() -> None:
    """A site without gzip never sends it; small contents are sent as they are."""
    assert "content-encoding" not in ask("/", 0, replace(PLAIN, gzip=False), accept_encoding="gzip")[1]
    assert "content-encoding" not in ask("/users/", 0, accept_encoding="gzip")[1]


def test_the_sitemap_lists_what_exists_and_is_allowed() -> None:
    """The sitemap has each living, allowed page once, with the time of its last publication."""
    manners = replace(PLAIN, sitemap=True, disallow=("/news/",))
    tree = ElementTree.fromstring(ask("/sitemap.xml", 3.5, manners)[0].body)
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    listed = {url.findtext(f"{space}loc"): url.findtext(f"{space}lastmod") for url in tree}
    assert set(listed) == {
        "http://boost.test/",
        "http://boost.test/users/",
        "http://boost.test/latin.html",
        "http://boost.test/data.csv",
    }
    assert listed["http://boost.test/"] == "2023-01-04T00:00:00Z"
    assert "/news/" in ask("/robots.txt", 0, manners)[0].body.decode()
