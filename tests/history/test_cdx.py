"""Lines of CDX and CDXJ files."""

from __future__ import annotations

import pytest

from webstrata.history.cdx import cdx_legend, guessed_row
from webstrata.history.cdxj import cdxj_row, url_of_key
from webstrata.history.index_row import IndexRow

ROW = IndexRow(url="http://a.org/", timestamp="20140103030321", mime="text/html", status="200", digest="DIGEST")
KEY_TO_DIGEST = "org,a)/ 20140103030321 http://a.org/ text/html 200 DIGEST"


@pytest.mark.parametrize(
    ("legend", "line"),
    [
        (" CDX N b a m s k r M S V g", f"{KEY_TO_DIGEST} - - 1 2 a.warc"),
        (" CDX N b a m s k r V g", f"{KEY_TO_DIGEST} - 2 a.warc"),
        (" CDX A b m s k", "http://a.org/ 20140103030321 text/html 200 DIGEST"),
        (" CDX b a", "20140103030321 http://a.org/"),
        ("\tCDX\ta\tb\tm\tk\ts", "http://a.org/\t20140103030321\ttext/html\tDIGEST\t200"),
        ("|CDX|s|b|a|c|k|m", "200|20140103030321|http://a.org/|old|DIGEST|text/html"),
        (" CDX a b c m s", "http://a.org/ 20140103030321 DIGEST text/html 200"),
        (" CDX N b a m s k r M S V g ", f"{KEY_TO_DIGEST} - - 1 2 a.warc"),
    ],
)
def test_legends(legend: str, line: str) -> None:
    """The legend says in which order the fields stand, and what is between them."""
    known = cdx_legend(legend)
    if legend.startswith(" CDX A"):
        assert known is None  # `A` is the canonical URL, not the original one
        return
    assert known is not None
    row = known.row(line)
    assert isinstance(row, IndexRow)
    assert (row.url, row.timestamp) == (ROW.url, ROW.timestamp)
    assert row.digest in ("DIGEST", "")
    assert row.status in ("200", "")


@pytest.mark.parametrize("line", ["", " CDX", " CDX N b", "CDX N b a", "aCDXabab", " CDX " + "a b " * 40])
def test_no_legends(line: str) -> None:
    """A line without URL or date is no legend that can be used."""
    assert cdx_legend(line) is None


@pytest.mark.parametrize("rest", [" - 2 a.warc", " - - 2 a.warc", " - - 1 2 a.warc", " 1234"])
def test_lines_without_legend(rest: str) -> None:
    """Files without a legend are recognised by the number of fields."""
    assert guessed_row(KEY_TO_DIGEST + rest) == ROW


def test_malformed_lines() -> None:
    """Other numbers of fields are said."""
    assert guessed_row("a b c") == "3 fields, and the file has no legend"
    known = cdx_legend(" CDX N b a m s k r M S V g")
    assert known is not None
    assert known.row(KEY_TO_DIGEST) == "6 fields instead of 11"


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            'org,a)/ 20140103030321 {"url": "http://a.org/", "mime": "text/html", "status": "200", "digest": "DIGEST"}',
            ROW,
        ),
        (
            'http://a.org/ 20140103030321 {"mime": "text/html", "status": 200, "digest": "DIGEST", "more": [{}]}',
            ROW,
        ),
        ('org,a)/ 20140103030321 {"mime":"text/html","status":"200","digest":"DIGEST"}', ROW),
        ("org,a)/ 20140103030321 {}", IndexRow(url="http://a.org/", timestamp="20140103030321")),
        ("org,a)/ 20140103030321", None),
        ('20140103030321 {"url": "http://a.org/"}', None),
        ('org,a)/ 20140103030321 {"url": "http://a.org/"', None),
        ('org,a)/ 20140103030321 {"url": 7}', None),
        ('org,a)/ 20140103030321 {"url": "http://a.org/", "status": 99999999999999999999999}', None),
        ("org,a)/ 20140103030321 " + '{"a":' * 20_000 + "}" * 20_000, None),
    ],
)
def test_cdxj(line: str, row: IndexRow | None) -> None:
    """The URL is that of the JSON object, else that of the key; everything else is malformed."""
    found = cdxj_row(line)
    assert isinstance(found, str) if row is None else found == row


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("org,a)/b?c=d", "http://a.org/b?c=d"),
        ("org,a:8080)/", "http://a.org:8080/"),
        ("http://(org,a,)/b", "http://a.org/b"),
        ("https://a.org/b", "https://a.org/b"),
        ("1.2.3.4)/", "http://1.2.3.4/"),
        ("-", "-"),
    ],
)
def test_keys(key: str, url: str) -> None:
    """A SURT names a host in reverse; a plain URL stays as it is."""
    assert url_of_key(key) == url
