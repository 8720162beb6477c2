from __future__ import annotations

import pytest

from webstrata.observe.features import features

PAGE = b"""<title>Group</title><meta name=generator content="Hugo 0.1">
<link rel=alternate type=application/atom+xml href=/feed>
<p>Write to <a href="mailto:a@b.example">a@b.example</a> or c@d.example. <img src=1.png><IMG src=2.png>
<a href=/x>in</a> <a href=https://other.example/>out</a> <a href=paper.pdf>paper</a>"""


def test_a_first_visit_is_described() -> None:
    """Links, addresses, images, sizes, headers and place of a page are counted in one record."""
    headers = {
        "content-type": "text/html",
        "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT",
        "cache-control": "max-age=60",
    }
    found = features(PAGE, headers, "https://www.cs.uni-x.de/people/group/index.html", depth=2)
    assert (found.links, found.internal_links, found.external_links, found.document_links) == (3, 1, 1, 1)
    assert (found.mail_addresses, found.images, found.has_feed, found.system) == (2, 2, True, "hugo")
    assert (found.has_last_modified, found.has_etag, found.cache_seconds) == (True, False, 60)
    assert (found.level, found.depth, found.media_type, found.site_kind) == (3, 2, "text/html", "scholarly")
    assert found.size == len(PAGE)
    assert 0 < found.text_size < found.size


@pytest.mark.parametrize(
    ("url", "level"),
    [("https://a.test/", 1), ("https://a.test/x", 1), ("https://a.test/x/", 2), ("https://a.test/x/y?z=/1/2/", 2)],
)
def test_level(url: str, level: int) -> None:
    """The folder of a page counts, its query does not."""
    assert features(b"", {}, url).level == level


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("", None),
        ("public", None),
        ("no-store", 0),
        ("private, MAX-AGE=5", 5),
        ("max-age=99999999999999999999", 9999999999),
    ],
)
def test_cache_control(control: str, seconds: int | None) -> None:
    """Only a stated age or a refusal says something."""
    assert features(b"", {"cache-control": control}, "https://a.test/").cache_seconds == seconds


def test_other_media() -> None:
    """A content without text is described by its bytes and headers."""
    found = features(b"\x89PNG\r\n\x1a\n", {"etag": "x"}, "https://a.test/i.png")
    assert (found.media_type, found.text_size, found.links, found.has_etag) == ("image/png", 8, 0, True)
