"""The static features of contents."""

from __future__ import annotations

import pytest

from webstrata.observe.page import observe
from webstrata.observe.static_features import STATIC_FEATURES, static_features

HTML = b"""<html><head><title>A title</title><script src=x.js></script></head><body><h2>Head</h2>
<IMG src=a.png><img src=b.png><ul><li>one two three</li></ul><table></table>
<a href="/in">in</a><a href="http://other.example/">out</a><a href="/x.pdf">pdf</a><a href="mailto:a@b.example">a</a>
</body></html>"""


def _features(body: bytes, kind: str, url: str, headers: dict[str, str] | None = None) -> dict[str, float]:
    return static_features(observe(body, kind, url), body, url, headers)


def test_the_features_of_a_page() -> None:
    """Counts of a page, its URL and its headers."""
    features = _features(HTML, "text/html", "http://a.example/2019/05/news/?id=7", {"last-modified": "x"})
    assert tuple(features) == STATIC_FEATURES
    expected = {
        "size": len(HTML), "title_length": 7, "internal_links": 1, "external_links": 1, "document_links": 1,
        "emails": 1, "images": 2, "scripts": 1, "tables": 1, "forms": 0, "headings": 1, "list_items": 1,
        "directory_level": 4, "url_digits": 6, "url_has_query": 1, "url_has_date": 1, "is_start_page": 0,
        "has_last_modified": 1, "is_page": 1, "is_feed": 0, "is_data": 0,
    }  # fmt: skip
    assert {name: features[name] for name in expected} == expected
    assert features["words"] > 0


@pytest.mark.parametrize(
    ("url", "level", "is_start"),
    [("http://a.example/", 1, 1), ("http://a.example/mail/", 2, 0), ("http://a.example/mail/box.html", 3, 0)],
)
def test_the_level_in_the_folders_of_the_server(url: str, level: int, is_start: int) -> None:
    """The root of a server is level 1, as in the paper."""
    features = _features(HTML, "text/html", url)
    assert (features["directory_level"], features["is_start_page"]) == (level, is_start)


def test_data_has_no_tags() -> None:
    """Tags are counted in pages only."""
    features = _features(b'{"a": "<img>"}', "application/json", "http://a.example/data.json")
    assert (features["is_data"], features["is_page"], features["images"]) == (1, 0, 0)
