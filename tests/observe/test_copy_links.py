"""Links of a content as the store keeps them."""

from __future__ import annotations

import numpy as np

from webstrata.columns import COPY_LINK, LinkKind
from webstrata.observe.copy_links import copy_links, link_values
from webstrata.observe.page import observe

URL = "http://www.example.org/folder/page.html"
HTML = b"""<html><body><p>text</p>
<a href="/a">a</a> <a href="/a/">the same</a> <a href="http://example.org/b">b</a>
<a href="http://other.example/">other</a> <a href="paper.PDF">paper</a> <a href="mailto:x@example.org">mail</a>
</body></html>"""


def _value(url: str) -> int:
    return int(link_values([url])[0])


def test_links_have_a_kind_and_occur_once() -> None:
    """Two spellings of a link are one; `www.` is no other host; a document is one on any host; contacts are out."""
    rows = np.frombuffer(copy_links(observe(HTML, "text/html", URL).linked, URL), COPY_LINK)
    kinds = dict(zip(rows["value"].tolist(), rows["kind"].tolist(), strict=True))
    assert kinds == {
        _value("http://www.example.org/a"): LinkKind.INTERNAL,
        _value("http://example.org/b"): LinkKind.INTERNAL,
        _value("http://other.example/"): LinkKind.EXTERNAL,
        _value("http://www.example.org/folder/paper.PDF"): LinkKind.DOCUMENT,
    }
    assert rows["value"].tolist() == sorted(kinds)


def test_a_link_has_the_same_value_in_http_and_https() -> None:
    """The hash of a page's URL finds the links that lead to it, in any scheme and with or without the last slash."""
    assert _value("https://example.org/b/") == _value("http://example.org/b")


def test_the_port_belongs_to_the_host() -> None:
    """A link is internal if it leads to the same host and port."""
    body = b'<html><body><a href="/a">a</a> <a href="http://example.org/">other port</a></body></html>'
    url = "http://example.org:8000/page.html"
    rows = np.frombuffer(copy_links(observe(body, "text/html", url).linked, url), COPY_LINK)
    kinds = dict(zip(rows["value"].tolist(), rows["kind"].tolist(), strict=True))
    assert kinds == {
        _value("http://example.org:8000/a"): LinkKind.INTERNAL,
        _value("http://example.org/"): LinkKind.EXTERNAL,
    }


def test_no_links() -> None:
    """A content without links has no rows, which differs from a content that was not read."""
    assert copy_links(observe(b"text", "text/plain", URL).linked, URL) == b""
