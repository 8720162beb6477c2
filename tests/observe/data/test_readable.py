"""Triples, rows and values for differences."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from webstrata.observe.data.readable import ReadableData, readable

URL = "http://e.test/"


def test_triples_have_stable_names() -> None:
    """A blank node has the same label in both versions, unless its triples differ."""
    before = readable(b"_:a <p> 1 . <s> <q> _:a .", "text/turtle", None, URL).triples
    again = readable(b"<s> <q> _:other . _:other <p> 1 .", "text/turtle", None, URL).triples
    more = readable(b"<s> <q> _:a . _:a <p> 1, 2 .", "text/turtle", None, URL).triples

    assert before is not None
    assert again is not None
    assert more is not None
    assert sorted(before) == sorted(again)
    assert not set(before) & set(more)


def test_tables_and_documents() -> None:
    """Tables have rows with trimmed cells; JSON is any value, including null."""
    assert readable(b"a, b\n1 ,2\n", "text/csv", None, URL).table == (("a", "b"), ("1", "2"))
    assert readable(b"a\tb\n", "text/tab-separated-values", None, URL).table == (("a", "b"),)
    assert readable(b'{"a": [1]}', "application/json", None, URL).document == {"a": [1]}
    assert readable(b"null", "application/json", None, URL).document is None
    assert readable(b"\xef\xbb\xbf[1]", "application/json", None, URL).document == [1]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<p>a page", "text/html"),
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"[" * 100_000 + b"]" * 100_000, "application/json"),
        (b"9" * 10_000, "application/json"),
        (b"\xff\xfe\x00", "application/json"),
        (b"@prefix", "text/turtle"),
        (b"\0", "application/rdf+xml"),
        (b"<a>" * 10_000, "application/rdf+xml"),
        (b"", "application/n-triples"),
        (b"\x89PNG", "image/png"),
    ],
)
def test_malformed_bodies(body: bytes, kind: str) -> None:
    """Malformed or deeply nested bodies and other formats raise nothing."""
    found = readable(body, kind, None, URL)

    assert isinstance(found, ReadableData)
    assert found.table is None
    assert found.triples in (None, ())
    assert found.document is UNSET or kind == "application/json"
