"""Answers of CDX servers: the rows in every dialect, and which answers are none or end early."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.history.index_answer import index_answer, page_count
from webstrata.history.index_row import IndexRow
from webstrata.records import Failure, FailureKind

ROW = IndexRow(url="http://a.example/", timestamp="20150101000000", mime="text/html", status="200", digest="A" * 32)
CELLS = ["example,a)/", ROW.timestamp, ROW.url, ROW.mime, ROW.status, ROW.digest, "7"]
NAMES = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
OBJECT = {"urlkey": "example,a)/", "timestamp": ROW.timestamp, "url": ROW.url, "mime": ROW.mime, "status": "200"}
OBJECT["digest"] = ROW.digest
LINE = " ".join(CELLS)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([NAMES, CELLS]),
        json.dumps([NAMES, CELLS], indent=1),
        json.dumps([NAMES[::-1], CELLS[::-1]]),
        json.dumps([NAMES, [*CELLS[:4], 200, *CELLS[5:]]]),
        json.dumps([OBJECT]),
        json.dumps(OBJECT),
        json.dumps(OBJECT) + "\r\n",
        json.dumps(OBJECT | {"status": 200}) + "\n\n",
        json.dumps(dict(zip(NAMES, CELLS, strict=True))),
        f"{LINE}\n",
        LINE,
        f" CDX N b a m s k S\n{LINE}\n",
        f"example,a)/ {ROW.timestamp} {json.dumps(OBJECT)}\n",
    ],
)
def test_dialects(body: str) -> None:
    """Every dialect gives the same row, with or without a line ending."""
    found = index_answer(body.encode())

    assert not isinstance(found, Failure)
    assert (list(found.rows), found.resume_key) == ([ROW], "")


@pytest.mark.parametrize("body", ["", " \n", "[]", "[[]]", json.dumps([NAMES])])
def test_no_rows(body: str) -> None:
    """An answer without rows is no failure."""
    found = index_answer(body.encode())

    if body == "[[]]":
        assert isinstance(found, Failure)
    else:
        assert not isinstance(found, Failure)
        assert list(found.rows) == []


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([NAMES, CELLS, [], ["a%2Cb+1"]]),
        f"{LINE}\n\na%2Cb+1\n",
        f"{LINE}\n\na%2Cb+1",
        f"{LINE}\r\n\r\na%2Cb+1\r\n",
    ],
)
def test_resume_keys(body: str) -> None:
    """The resume key stands after an empty row."""
    found = index_answer(body.encode())

    assert not isinstance(found, Failure)
    assert (list(found.rows), found.resume_key) == ([ROW], "a%2Cb+1")


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([NAMES, CELLS[:3], CELLS]),
        json.dumps([NAMES, "x", CELLS]),
        json.dumps([NAMES, [["x"]] * 7, CELLS]),
        f'{json.dumps(OBJECT)}\n{{"a": 1}}\n',
        f'{json.dumps(OBJECT)}\n{{"timestamp": \n',
        f"{LINE}\nnot a row\n",
        f"{LINE}\n{'x' * 70_000}\n",
        f"{LINE}\nexample,a)/ 2015 {{]}}\n",
    ],
)
def test_bad_rows(body: str) -> None:
    """A row that cannot be parsed is a sentence, and costs only itself."""
    found = index_answer(body.encode())

    assert not isinstance(found, Failure)
    rows = list(found.rows)
    assert len(rows) == 2
    assert rows.count(ROW) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (json.dumps([NAMES, CELLS])[:-1], FailureKind.PARTIAL),
        (json.dumps([NAMES, CELLS])[:50], FailureKind.PARTIAL),
        (f"{LINE}\nexample,a)/ 2015", FailureKind.PARTIAL),
        (f'{json.dumps(OBJECT)}\n{{"timestamp": ', FailureKind.PARTIAL),
        ("[" * 100_000, FailureKind.PARTIAL),
        ('["a", "b"]', FailureKind.UNEXPECTED),
        ("<html><title>Sorry &amp; so on</title>", FailureKind.UNEXPECTED),
        ('{"message": "The \\"url\\" param is required"}', FailureKind.UNEXPECTED),
        ("{" * 100_000, FailureKind.UNEXPECTED),
        ("Too many requests", FailureKind.UNEXPECTED),
        ("\x7fELF\0\0", FailureKind.UNEXPECTED),
    ],
)
def test_what_is_no_answer(body: str, kind: FailureKind) -> None:
    """Pages of HTML, messages and answers that end early are failures, with a reason that can be printed."""
    found = index_answer(body.encode())

    assert isinstance(found, Failure)
    assert found.kind is kind
    assert len(found.detail) < 600


@pytest.mark.parametrize(
    ("body", "pages"),
    [("7\n", 7), ("[[\"7\"]]", 7), ('{"pages": 7, "pageSize": 5}', 7), ("", 0), ("-1", 0), ("1.5", 0), ("true", 0),
     ("[7, 8]", 0), (LINE, 0), ('{"pages": {}}', 0), ("[" * 10_000, 0), ("9" * 5_000, 0)],
)  # fmt: skip
def test_page_counts(body: str, pages: int) -> None:
    """The number of pages, as the servers state it; 0 for anything else."""
    assert page_count(body.encode()) == pages


_PIECES = st.sampled_from(
    [
        '["timestamp","original"],',
        '["1","http://a.example/"]',
        "[",
        "]",
        ",",
        "{",
        "}",
        '"',
        "timestamp",
        "\n",
        " ",
        "[]",
        "1",
        "\\u",
        "é",
        "a,b)/ 2015 ",
    ]
)


@given(st.one_of(st.binary(max_size=1000), st.lists(_PIECES, max_size=40).map(lambda found: "".join(found).encode())))
def test_any_bytes(body: bytes) -> None:
    """No answer raises; each row is a row or a sentence."""
    found = index_answer(body)
    page_count(body)
    if not isinstance(found, Failure):
        assert all(isinstance(row, IndexRow | str) for row in found.rows)
