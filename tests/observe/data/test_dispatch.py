"""Selection of the data format and its digest function."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.runner import EXTRACT
from webstrata.observe.data.dispatch import data_digest
from webstrata.records import PageRules

SITEMAP = "<urlset><url><loc>https://e.org/a</loc><lastmod>2024-01-01</lastmod></url></urlset>"
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"{}><e:A><e:b>c</e:b></e:A>{}</rdf:RDF>'
RSS1 = RDF.format(' xmlns="http://purl.org/rss/1.0/"', "<item><title>t</title></item>")

KINDS = [
    ("{}", "application/json", "", "json"),
    ("{}", "application/vnd.api+json", "", "json"),
    ("{}", "text/plain", "https://e.org/x.json?y=1", "json"),
    ('{"a":1}\n{"b":2}', "application/x-ndjson", "", "json"),
    ("a,b\n1,2", "text/csv", "", "table"),
    ("a\tb", "application/octet-stream", "https://e.org/X.TSV", "table"),
    ("<a> <b> <c> .", "text/turtle", "http://e.org/", "graph"),
    ("<http://a> <http://b> <http://c> .", "text/plain", "http://e.org/x.nt", "graph"),
    ('{"@id":"http://a","http://b":1}', "application/ld+json", "", "graph"),
    (RDF.format("", ""), "application/rdf+xml", "http://e.org/", "graph"),
    (RDF.format("", ""), "text/xml", "http://e.org/", "graph"),
    ("<a> <b> <c> .", "", "http://e.org/onto.owl", "graph"),
    (RSS1, "application/xml", "http://e.org/", "feed"),
    ("<rss><channel><item><title>t</title></item></channel></rss>", "text/xml", "", "feed"),
    ("<rss><channel><item><title>t</title></item></channel></rss>", "application/rss+xml", "", "feed"),
    (SITEMAP, "application/xml", "https://e.org/sitemap.xml", "sitemap"),
    ("<a/>", "application/xml", "", "xml"),
    ("<a/>", "application/vnd.x+xml", "", "xml"),
    ('{"head":{"vars":["s"]},"results":{"bindings":[]}}', "application/sparql-results+json", "", "bindings"),
    ("<p>", "text/html", "https://e.org/x.json", None),
    ("<p/>", "application/xhtml+xml", "", None),
    ("x", "text/plain", "https://e.org/x.txt", None),
    ("x", "image/png", "", None),
    ("{}", "text/plain", "http://[broken/x.json", None),
]


@pytest.mark.parametrize(("text", "media_type", "url", "kind"), KINDS)
def test_kinds(text: str, media_type: str, url: str, kind: str | None) -> None:
    """The format is selected by media type, by URL if the type is unknown, by XML root."""
    data = data_digest(text.encode(), media_type, None, url)
    assert (None if data is None else data.kind) == kind
    assert data is None or data.digest is not None


def test_order_of_rows_is_a_page_rule() -> None:
    """With the rule `unordered`, the rows of a table without a key have no order."""
    one, other = b"1,a\n2,b\n", b"2,b\n1,a\n"
    for unordered in (False, True):
        page_rules = PageRules(unordered=unordered)
        digests = {data_digest(body, "text/csv", None, "", page_rules).digest for body in (one, other)}  # type: ignore[union-attr]
        assert len(digests) == (1 if unordered else 2)


def test_sitemap_digest() -> None:
    """Priorities and layout do not change the digest of a sitemap; a new time does."""
    other = SITEMAP.replace("<lastmod>", "\n<priority>0.5</priority><lastmod>")
    newer = SITEMAP.replace("2024-01-01", "2024-01-02")
    results = [data_digest(text.encode(), "text/xml", None, "https://e.org/") for text in (SITEMAP, other, newer)]
    digests = [data and data.digest for data in results]
    assert digests[0] == digests[1] != digests[2]


TYPES = [
    "application/json",
    "text/csv",
    "text/turtle",
    "application/trig",
    "application/ld+json",
    "application/rdf+xml",
    "text/xml",
    "application/rss+xml",
    "application/sparql-results+json",
]


@pytest.mark.parametrize("media_type", TYPES)
def test_naughty_strings(media_type: str) -> None:
    """Unusual strings as bodies, charsets and URLs raise nothing in any format."""
    for case in json.loads((EXTRACT / "naughty-strings" / "cases.json").read_text("utf-8")):
        text = case if isinstance(case, str) else str(case)
        data = data_digest(text.encode("utf-8", "replace"), media_type, text[:50], text)
        assert data is not None
        assert data.digest is not None or data.note


@given(st.binary(max_size=100), st.sampled_from(TYPES), st.none() | st.text(max_size=20), st.text(max_size=30))
def test_never_raises(body: bytes, media_type: str, charset: str | None, url: str) -> None:
    """Any body, charset label and URL give a digest or a note."""
    data = data_digest(body, media_type, charset, url)
    assert data is not None
    assert data.digest is not None or data.note


@pytest.mark.parametrize("media_type", ["application/gzip", "application/x-gzip", "application/xml", ""])
def test_gzipped_sitemaps(media_type: str) -> None:
    """A gzipped sitemap has the digest of the plain one; other gzip files are archives, unless they are damaged."""
    packed = [gzip.compress(SITEMAP.encode(), level, mtime=level) for level in (1, 9)]
    plain = data_digest(SITEMAP.encode(), "application/xml", None, "https://e.org/sitemap.xml")
    for body in packed:
        assert data_digest(body, media_type, None, "https://e.org/sitemap.xml.gz") == plain
    assert plain is not None
    assert plain.digest is not None
    for body in (b"\x1f\x8b\x08", packed[0][:20], gzip.compress(bytes(300 * 2**20), 1)):
        found = data_digest(body, media_type, None, "https://e.org/x.gz")
        assert found is None or found.digest is None
    archive = data_digest(gzip.compress(b"<a/>"), media_type, None, "https://e.org/x.gz")
    assert archive is not None
    assert (archive.kind, archive.size) == ("archive", 1)
