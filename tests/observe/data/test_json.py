"""JSON: equal documents, different documents, and malformed ones."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.json import MAX_DEPTH, json_digest, json_lines_digest

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


def digest(text: str | bytes, charset: str | None = None) -> str | None:
    body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return json_digest(body, charset, "https://example.org/d.json").digest


def shuffled(value: Any, luck: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        luck.shuffle(names)
        return {name: shuffled(value[name], luck) for name in names}
    return [shuffled(each, luck) for each in value] if isinstance(value, list) else value


@given(documents, st.randoms(use_true_random=False))
def test_formatting_and_order_of_members_do_not_count(document: Any, luck: random.Random) -> None:
    """Indentation, order of members and escapes do not change the digest."""
    again = json.dumps(shuffled(document, luck), indent=luck.choice([None, 2]), ensure_ascii=luck.choice([True, False]))
    assert digest(json.dumps(document)) == digest(again) is not None


@given(documents, documents)
def test_documents_that_differ_have_different_digests(one: Any, other: Any) -> None:
    """Two values are equal if and only if their digests are; true is not 1."""
    same = json.dumps(_typed(one), sort_keys=True) == json.dumps(_typed(other), sort_keys=True)
    assert (digest(json.dumps(one)) == digest(json.dumps(other))) == same


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _typed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """Any bytes give a digest or a note."""
    data = json_digest(body, None, "")
    assert (data.digest is None) == (data.note is not None)


SAME = [
    ("1", "1.0"),
    ("100", "1e2"),
    ("0", "-0.0"),
    ("[1.50]", "[15e-1]"),
    ('{"a":1,"b":2}', ' { "b" : 2.0 , "a" : 1 }\n'),
    ('"\\u00e9"', '"é"'),
    ("1e400", "10e399"),
    ('{"generated":"2026-01-01T00:00:00Z","n":5}', '{"n":5,"generated":"2026-01-02T00:00:00Z"}'),
    ('{"metadata":{"generated":1700000000000,"title":"t"}}', '{"metadata":{"generated":1700000060000,"title":"t"}}'),
]
DIFFERENT = [
    ("1", '"1"'),
    ("1", "true"),
    ("0", "false"),
    ("null", "0"),
    ("[1,2]", "[2,1]"),
    ("9007199254740993", "9007199254740992"),
    ("0.1", "0.10000000000000001"),
    ('{"a":1}', '{"a":1,"b":null}'),
    ('{"a":1,"a":2}', '{"a":2}'),
    ('{"a":1,"a":2}', '{"a":2,"a":1}'),
    ("[]", "{}"),
    ("[1.5]", '[[null,"15e-1"]]'),
    ('{"updated":"2026-01-01T00:00:00Z","n":5}', '{"updated":"2026-01-02T00:00:00Z","n":5}'),
    ('{"generated":"2026-01-01T00:00:00Z"}', '{"generated":"2026-01-02T00:00:00Z"}'),
    ('{"generated":"by hand","n":5}', '{"generated":"by machine","n":5}'),
    ('{"a":{"generated":"2026-01-01"}}', '{"a":{"generated":"2026-01-02"}}'),
    ('"e\\u0301"', '"é"'),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_data(one: str, other: str) -> None:
    """Notations of one value, and times of generation, do not change the digest."""
    assert digest(one) == digest(other) is not None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_data(one: str, other: str) -> None:
    """Types, order of arrays, digits and repeated names count, and times if there is nothing else."""
    assert digest(one) != digest(other)
    assert digest(one) is not None


def test_stamps_left_out_are_named() -> None:
    """The members that were left out are listed as noise."""
    assert json_digest(b'{"n":1,"generated_at":"2026-01-01"}', None, "").noise == ("generated_at",)


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ('{"ä":1}'.encode("utf-8-sig"), None),
        ('{"ä":1}'.encode("utf-16"), None),
        ('{"ä":1}'.encode("utf-16-be"), None),
        ('{"ä":1}'.encode("utf-32-le"), None),
        ('{"ä":1}'.encode("latin-1"), "iso-8859-1"),
        ('{"ä":1}'.encode(), "iso-8859-1"),
    ],
)
def test_encodings(body: bytes, charset: str | None) -> None:
    """JSON is decoded by its first bytes, else by the charset in the header."""
    assert digest(body, charset) == digest('{"ä":1}')


NONE = ["", "nul", "NaN", "[Infinity]", "[1,]", "{'a':1}", '["\t"]', "[1] x", b"\xff", b"\xef\xbb\xbf", "1" * 5000]


@pytest.mark.parametrize("text", NONE, ids=lambda text: repr(text)[:20])
def test_other_documents_have_no_digest(text: str | bytes) -> None:
    """A document that is not JSON has no digest, but a short note."""
    data = json_digest(text.encode() if isinstance(text, str) else text, None, "")
    assert data.digest is None
    assert data.note is not None
    assert len(data.note) < 200


@pytest.mark.parametrize(
    "body", [b"[" * 10**6, b'{"":' * 10**5, b"[" * 5000 + b"]" * 5000, b'{"a":' * 900 + b"1" + b"}" * 900]
)
def test_deep_nesting_stops_at_the_same_depth_for_every_caller(body: bytes) -> None:
    """A document that is nested deeper than the limit is refused."""
    begun = time.process_time()
    assert json_digest(body, None, "").digest is None
    assert time.process_time() - begun < 1.0
    assert json_digest(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None, "").digest is not None


def test_lines_of_json() -> None:
    """JSON Lines: the order of documents counts, their layout does not."""
    one = json_lines_digest(b'{"a":1,"b":2}\n{"c":3}\n', None, "")
    assert one.digest == json_lines_digest(b'{"b":2, "a":1}\r\n\r\n{"c":3}', None, "").digest is not None
    assert one.digest != json_lines_digest(b'{"c":3}\n{"a":1,"b":2}\n', None, "").digest
    assert json_lines_digest(b'{"a":1}\n{', None, "").digest is None
