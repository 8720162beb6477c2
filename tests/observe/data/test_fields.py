"""The fields of data: every value belongs to exactly one field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.data_field import MAX_FIELDS, DataField
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.fields import data_fields

URL = "https://e.org/x"
MAP = "<urlset>{}</urlset>"
ROW = "<url><loc>https://e.org/{}</loc><lastmod>{}</lastmod></url>"
TURTLE = '@prefix d: <http://purl.org/dc/terms/> . <a> d:title "T" ; d:modified "{}" ; d:creator [ d:title "{}" ] .'

# media type, kind, one version, another, the fields that differ, those of them that hold times or tokens only
DIFFERENT = {
    "a json path": (
        "application/json",
        "json",
        '{"a":[{"n":1,"v":2}],"t":"x"}',
        '{"a":[{"n":1,"v":3}],"t":"x"}',
        {"a[].v"},
        set(),
    ),
    "a json time": (
        "application/json",
        "json",
        '{"a":1,"at":"2026-01-01T00:00:00Z"}',
        '{"a":1,"at":"2026-01-02T00:00:00Z"}',
        {"at"},
        {"at"},
    ),
    "a json list": ("application/json", "json", '{"a":[1,2]}', '{"a":[[1],2]}', {"a[]", "a[][]"}, set()),
    "a json type": ("application/json", "json", '{"a":"1"}', '{"a":1}', {"a"}, set()),
    "a cell": (
        "text/csv",
        "table",
        "id,x,at\n1,a,2026-01-01\n2,b,2026-01-01\n",
        "id,x,at\n2,c,2026-01-02\n1,a,2026-01-02\n",
        {"x", "at"},
        {"at"},
    ),
    "a predicate": (
        "text/turtle",
        "graph",
        TURTLE.format("2026-01-01", "n"),
        TURTLE.format("2026-01-02", "n"),
        {"<http://purl.org/dc/terms/modified>"},
        {"<http://purl.org/dc/terms/modified>"},
    ),
    "a blank node": (
        "text/turtle",
        "graph",
        TURTLE.format("2026", "n"),
        TURTLE.format("2026", "m"),
        {"<http://purl.org/dc/terms/title>"},
        set(),
    ),
    "an attribute": (
        "application/xml",
        "xml",
        "<a><b id='9f86d081884c7d65'>x</b></a>",
        "<a><b id='60303ae22b998861'>x</b></a>",
        {"/a/b/@id"},
        {"/a/b/@id"},
    ),
    "an element": ("application/xml", "xml", "<a><b/>x</a>", "<a><b>y</b>x</a>", {"/a/b"}, set()),
    "times of a sitemap": (
        "application/xml",
        "sitemap",
        MAP.format(ROW.format("1", "2026-01-01")),
        MAP.format(ROW.format("1", "2026-01-02")),
        {"lastmod"},
        {"lastmod"},
    ),
    "a sitemap": (
        "application/xml",
        "sitemap",
        MAP.format(ROW.format("1", "2026-01-01")),
        MAP.format(ROW.format("2", "2026-01-01")),
        {"loc", "lastmod"},
        {"lastmod"},
    ),
}


def fields_of(body: bytes, media_type: str, kind: str) -> list[DataField]:
    """The fields of a body that has a digest of this kind."""
    data = data_digest(body, media_type, None, URL)
    assert data is not None
    assert (data.kind, data.note) == (kind, None)
    return data_fields(data, body, media_type, None, URL)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs(name: str) -> None:
    """The hashes of exactly the changed fields differ, and fields of times and tokens are recognised."""
    media_type, kind, *versions, changed, stamps = DIFFERENT[name]
    before, after = ({p.name: p for p in fields_of(v.encode(), media_type, kind)} for v in versions)
    differ = {name for name in before.keys() | after.keys() if before.get(name, 0) != after.get(name, 0)}
    differ = {
        name for name in differ if name not in before or name not in after or before[name].value != after[name].value
    }
    assert differ == changed
    assert {name for name in changed if after.get(name) and after[name].stamps} == stamps


@pytest.mark.parametrize(
    ("media_type", "kind", "one", "other"),
    [
        ("application/json", "json", '{"a":1,"b":[2]}', ' {"b" : [2], "a": 1}'),
        ("text/csv", "table", "id,x\n1,a\n2,b\n", "id,x\n2,b\n1,a\n"),
        ("text/turtle", "graph", "<a> <b> _:x . <c> <b> <d> .", "<c> <b> <d> . <a> <b> _:y ."),
        ("application/xml", "xml", "<a><b>x</b></a>", "<a>\n <b>x</b>\n</a>"),
    ],
)
def test_equal_data_have_equal_fields(media_type: str, kind: str, one: str, other: str) -> None:
    """Order, layout and labels without meaning do not change the fields."""
    assert fields_of(one.encode(), media_type, kind) == fields_of(other.encode(), media_type, kind)


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=1), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(_values, _values)
def test_different_json_has_different_fields(one: Any, other: Any) -> None:
    """Two different JSON documents have different fields."""
    bodies = [json.dumps(value).encode() for value in (one, other)]
    digests = [data_digest(body, "application/json", None, URL) for body in bodies]
    fields = [fields_of(body, "application/json", "json") for body in bodies]
    assert (fields[0] == fields[1]) == (digests[0] == digests[1])


@given(st.binary(max_size=200), st.sampled_from(["json", "table", "graph", "xml", "sitemap", "feed", "bindings", ""]))
def test_never_raises(body: bytes, kind: str) -> None:
    """Any bytes give fields or an empty list."""
    assert isinstance(data_fields(DataDigest(kind=kind, digest="0"), body, "text/csv", None, URL), list)


def test_number_of_fields_is_limited() -> None:
    """Fields beyond the limit are combined in one field, which never counts as times or tokens."""
    body = json.dumps({f"k{i:05}": "2026-01-01" for i in range(5_000)}).encode()
    found = fields_of(body, "application/json", "json")
    assert len(found) == MAX_FIELDS
    (rest,) = [field for field in found if field.size > 1]
    assert (rest.size, rest.stamps) == (5_000 - MAX_FIELDS + 1, False)
    deep = b"[" * 100_000 + b"]" * 100_000
    assert data_fields(DataDigest(kind="json", digest="0"), deep, "application/json", None, URL) == []
