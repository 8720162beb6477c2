"""TimeMaps in every format: what their items are, and that no content from outside raises or takes long."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.history.reading import batches_of, counts_of
from webstrata.clock import iso
from webstrata.errors import BadUrl, UsageError
from webstrata.history.timemap import (
    FurtherMap,
    Memento,
    OriginalPage,
    TimeMapItem,
    memento_archive,
    memento_instant,
    memento_page,
    timemap_items,
)
from webstrata.history.timemap_source import AskedMap, TimeMaps, asked_map
from webstrata.records import Failure, FailureKind, ReadBatch

NOW = 1_790_000_000.0
PAGE = "http://foo.example/"
ARCHIVED = "http://web.archive.example/web/20140126200624/http://foo.example/"

LINK_FORMAT = f"""<{PAGE}>; rel="original",
<http://web.archive.example/timemap/link/{PAGE}>; rel="self"; type="application/link-format",
<http://web.archive.example/web/{PAGE}>; rel="timegate",
<{ARCHIVED}>; rel="first memento"; datetime="Sun, 26 Jan 2014 20:06:24 GMT",
<http://other.example/20150101000000mp_/{PAGE}>; datetime="Thu, 01 Jan 2015 00:00:00 GMT"; rel="memento",
<https://third.example/arch/20160101000000/{PAGE}>; rel="last memento"; datetime="Fri, 01 Jan 2016 00:00:00 GMT",
<http://web.archive.example/timemap/json/{PAGE}>; rel="timemap"; type="application/json"
"""
MEMGATOR_JSON = json.dumps(
    {
        "original_uri": PAGE,
        "self": f"http://aggregator.example/timemap/json/{PAGE}",
        "mementos": {
            "first": {"datetime": "2014-01-26T20:06:24Z", "uri": ARCHIVED},
            "list": [
                {"datetime": "2014-01-26T20:06:24Z", "uri": ARCHIVED},
                {"datetime": "2015-01-01T00:00:00Z", "uri": f"http://other.example/20150101000000mp_/{PAGE}"},
                {"datetime": "2016-01-01T00:00:00Z", "uri": [f"https://third.example/arch/20160101000000/{PAGE}"]},
            ],
        },
        "timemap_uri": {"link_format": f"http://aggregator.example/timemap/link/{PAGE}"},
        "timegate_uri": f"http://aggregator.example/timegate/{PAGE}",
    },
    indent=2,
)
MEMGATOR_CDXJ = f"""!context ["http://tools.ietf.org/html/rfc7089"]
!id {{"uri": "http://aggregator.example/timemap/cdxj/{PAGE}"}}
!keys ["memento_datetime_YYYYMMDDhhmmss"]
!meta {{"original_uri": "{PAGE}"}}
!meta {{"timegate_uri": "http://aggregator.example/timegate/{PAGE}"}}
20140126200624 {{"uri": "{ARCHIVED}", "rel": "first memento", "datetime": "Sun, 26 Jan 2014 20:06:24 GMT"}}
20150101000000 {{"uri": "http://other.example/20150101000000mp_/{PAGE}", "rel": "memento"}}
20160101000000 {{"uri": "https://third.example/arch/20160101000000/{PAGE}", "rel": "last memento"}}
"""
IPWB_CDXJ = MEMGATOR_CDXJ.replace("!", "@")


@pytest.mark.parametrize("text", [LINK_FORMAT, MEMGATOR_JSON, MEMGATOR_CDXJ, IPWB_CDXJ, "\ufeff" + LINK_FORMAT])
def test_every_format_lists_the_same(text: str) -> None:
    """The formats give the same page, times and archives."""
    items = items_of(text)

    assert [item for item in items if isinstance(item, OriginalPage)] == [OriginalPage(PAGE)]
    mementos = [item for item in items if isinstance(item, Memento)]
    assert [iso(memento_instant(memento) or 0) for memento in mementos] == [
        "2014-01-26T20:06:24Z",
        "2015-01-01T00:00:00Z",
        "2016-01-01T00:00:00Z",
    ]
    assert [memento_archive(one) for one in mementos] == ["web.archive.example", "other.example", "third.example"]
    assert not [item for item in items if isinstance(item, FurtherMap | str)]


def items_of(text: str | bytes) -> list[TimeMapItem]:
    found = timemap_items(text if isinstance(text, bytes) else text.encode())
    assert not isinstance(found, Failure), found
    return list(found)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        ("<http://a.example/>;rel=original", [OriginalPage("http://a.example/")]),
        ('<http://a.example/a,b;c>; rel="memento"', [Memento("http://a.example/a,b;c", "")]),
        ('<http://a.example/>; title="a, b; c"; REL="Memento"; x', [Memento("http://a.example/", "")]),
        ('<//a.example/1>;rel="memento prev",<http://b.example/>; rel=self', [Memento("//a.example/1", "")]),
        (
            '<http://a.example/1>; rel="memento"\n<http://a.example/2>; rel="memento"',
            [Memento("http://a.example/1", ""), Memento("http://a.example/2", "")],
        ),
        (
            '<http://a.example/m>; rel="timemap"; from="x"; until="y", <http://a.example/n>; rel="self timemap"',
            [FurtherMap("http://a.example/m")],
        ),
        (
            json.dumps(
                {"original_uri": "", "timemap_index": [{"from": "a", "until": "b", "uri": "http://a.example/1"}]}
            ),
            [FurtherMap("http://a.example/1")],
        ),
        (
            json.dumps({"original_uri": PAGE, "pages": {"next": {"uri": "http://a.example/2"}}}),
            [OriginalPage(PAGE), FurtherMap("http://a.example/2")],
        ),
    ],
)
def test_items(text: str, items: list[TimeMapItem]) -> None:
    """The links that matter, however they are written."""
    assert items_of(text) == items


@pytest.mark.parametrize(
    ("text", "malformed", "mementos"),
    [
        (LINK_FORMAT.replace('rel="first memento"', 'rel="first memento'), 1, 2),
        (LINK_FORMAT[: LINK_FORMAT.index("Fri, 01")], 1, 2),
        ("<http://a.example/ <http://b.example/>; rel=memento", 1, 1),
        (MEMGATOR_CDXJ + '20170101000000 {"uri": "http', 1, 3),
        (MEMGATOR_JSON.replace('"datetime": "2015-01-01T00:00:00Z"', '"datetime": 7'), 1, 2),
    ],
)
def test_damaged_items_cost_only_themselves(text: str, malformed: int, mementos: int) -> None:
    """An item that cannot be read is one sentence; the others are read."""
    items = items_of(text)

    assert sum(isinstance(item, str) for item in items) == malformed
    assert sum(isinstance(item, Memento) for item in items) == mementos


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<!doctype html><title>Not found</title>", FailureKind.UNEXPECTED),
        ("\0\0\0", FailureKind.UNEXPECTED),
        ("There is nothing here", FailureKind.UNEXPECTED),
        (MEMGATOR_JSON[:400], FailureKind.PARTIAL),
        ('{"message": "no"}', FailureKind.UNEXPECTED),
    ],
)
def test_what_is_no_timemap(text: str, kind: FailureKind) -> None:
    """Other contents are recognised, and a JSON document that ends early is."""
    found = timemap_items(text.encode())

    assert isinstance(found, Failure)
    assert found.kind is kind


@pytest.mark.parametrize(
    ("datetime", "uri", "expected"),
    [
        ("Sun, 26 Jan 2014 20:06:24 GMT", "", "2014-01-26T20:06:24Z"),
        ("26 jan 2014 20:06:24 UTC", "", "2014-01-26T20:06:24Z"),
        ("Sun, 26 Jan 2014 20:06:24 +0000", "", "2014-01-26T20:06:24Z"),
        ("2014-01-26T20:06:24Z", "", "2014-01-26T20:06:24Z"),
        ("2014-01-26 20:06:24.123+00:00", "", "2014-01-26T20:06:24Z"),
        ("20140126200624", "", "2014-01-26T20:06:24Z"),
        ("", ARCHIVED, "2014-01-26T20:06:24Z"),
        ("", "http://a.example/20140126200624id_/x", "2014-01-26T20:06:24Z"),
        ("", "http://a.example/20140226300624/x", None),
        ("", "http://a.example/x", None),
        ("Sun, 30 Feb 2014 20:06:24 GMT", ARCHIVED, None),
        ("Sun, 26 Foo 2014 20:06:24 GMT", ARCHIVED, None),
        ("Sun, 26 Jan 0014 20:06:24 GMT", ARCHIVED, None),
        ("Sun, 26 Jan 2014 20:06:24 +0100", ARCHIVED, None),
        ("yesterday", ARCHIVED, None),
        ("١٤", ARCHIVED, None),
    ],
)
def test_instants(datetime: str, uri: str, expected: str | None) -> None:
    """The date is that of the link; only without one the digits of the URI count. An invalid date is none."""
    at = memento_instant(Memento(uri, datetime))

    assert (at if at is None else iso(at)) == expected


def test_parts_of_a_uri() -> None:
    """The archive and the page of a memento are read from its URI, if they are there."""
    assert memento_archive(Memento("//WWW.Archive.example:80/x", "")) == "www.archive.example"
    assert memento_archive(Memento("http://user@archive.example/x", "")) == "archive.example"
    assert memento_archive(Memento("urn:x", "")) == ""
    assert memento_page(Memento(ARCHIVED, "")) == PAGE
    assert memento_page(Memento("http://a.example/20140126200624/x", "")) == ""


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    """No content raises, and each item is one of the known kinds."""
    found = timemap_items(data)
    for item in () if isinstance(found, Failure) else found:
        if isinstance(item, Memento):
            memento_instant(item), memento_archive(item), memento_page(item)


_PIECES = st.sampled_from(
    [
        "<",
        ">",
        '"',
        ";",
        ",",
        "=",
        " ",
        "\n",
        "rel",
        "memento",
        "datetime",
        "http://a.example/",
        "{",
        "}",
        "[",
        "]",
        ":",
        "!meta",
        "2014",
        "uri",
        "\\",
        "é",
    ]
)


@given(
    st.lists(_PIECES, max_size=60).map("".join), st.sampled_from(["<http://a/", '{"original_uri": "', "!meta ", "["])
)
def test_any_text(text: str, start: str) -> None:
    """No text of the formats' own signs raises."""
    found = timemap_items((start + text).encode())
    for _ in () if isinstance(found, Failure) else found:
        pass


@pytest.mark.parametrize(
    "text",
    [
        "<" * 800_000,
        "<http:a" * 200_000,
        '<http:a>;a="' * 120_000,
        "<http:a>" + "; a" * 400_000,
        "<http:a>" + " " * 800_000 + "x",
        "<http:" + "a" * 800_000,
        "20140101000000 {" * 80_000,
        '{"original_uri": ' + "[" * 400_000,
    ],
    ids=range(8),
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    """Texts that are made to be slow to parse come to an end: in quadratic time they would take minutes."""
    found = timemap_items(text.encode())
    for item in () if isinstance(found, Failure) else found:
        assert isinstance(item, str)


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [LINK_FORMAT, MEMGATOR_JSON, MEMGATOR_CDXJ])
def test_a_file(tmp_path: Path, text: str) -> None:
    """A file gives copies of the page that it names, each of the archive that has it, without digests."""
    batches = read(tmp_path, text)

    copies = [copy for batch in batches for copy in batch.copies]
    assert counts_of(batches) == {"kept": 3}
    assert {(copy.url, copy.digest, copy.status) for copy in copies} == {(PAGE, "", 0)}
    assert [copy.archive for copy in copies] == ["web.archive.example", "other.example", "third.example"]


def read(folder: Path, text: str | bytes, archive: str = "") -> list[ReadBatch]:
    file = folder / "saved.link"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return batches_of(TimeMaps(file, requests=None, now=NOW, archive=archive))


def test_the_name_of_the_archive(tmp_path: Path) -> None:
    """A name that the user gives holds for all copies."""
    copies = [copy for batch in read(tmp_path, LINK_FORMAT, archive="mine") for copy in batch.copies]

    assert {copy.archive for copy in copies} == {"mine"}


def test_rows_that_are_left_out(tmp_path: Path) -> None:
    """Each row without page, date or form is counted by its reason."""
    text = LINK_FORMAT + "".join(
        f'<{uri}>; rel="memento"; datetime="{date}",\n'
        for uri, date in [
            (ARCHIVED, "Fri, 01 Jan 2100 00:00:00 GMT"),
            (ARCHIVED, "tomorrow"),
            ("http://a.example/", 'x"y'),
        ]
    )

    assert counts_of(read(tmp_path, text)) == {"kept": 3, "future": 1, "invalid-date": 1, "malformed": 1}


def test_a_file_without_the_page(tmp_path: Path) -> None:
    """Without rel=original the page is that in the URI of each memento; without both a row is left out."""
    text = (
        LINK_FORMAT.replace('rel="original"', 'rel="x"')
        + '<http://a.example/1>; rel="memento"; datetime="Fri, 01 Jan 2016 00:00:00 GMT"'
    )

    assert counts_of(read(tmp_path, text)) == {"kept": 3, "invalid-url": 1}


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"<html>", b"\x1f\x8b\x08broken", b"[[", "ünïcode".encode("utf-16")])
def test_files_that_are_no_timemaps(tmp_path: Path, data: bytes) -> None:
    """A file of another kind is one malformed row, an empty one none."""
    assert counts_of(read(tmp_path, data)) == ({"kept": 0, "malformed": 1} if data else {"kept": 0})


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that cannot be read is an error of use."""
    with pytest.raises(UsageError, match="cannot read"):
        TimeMaps(tmp_path / "none", requests=None, now=NOW)


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "server", "expected"),
    [
        (
            "http://foo.example/a",
            "http://a.example/timemap/link/",
            AskedMap("http://a.example/timemap/link/http://foo.example/a", "http://foo.example/a"),
        ),
        (
            "http://foo.example",
            "http://a.example/timemap/link",
            AskedMap("http://a.example/timemap/link/http://foo.example/", PAGE),
        ),
        ("http://foo.example", "http://a.example/{url}?x", AskedMap("http://a.example/http://foo.example/?x", PAGE)),
        ("http://a.example/timemap/link/http://x/", None, AskedMap("http://a.example/timemap/link/http://x/")),
        (
            "http://a.example/timemap/link/http://x/",
            "http://b.example/timemap/link/",
            AskedMap("http://a.example/timemap/link/http://x/"),
        ),
    ],
)
def test_requests(text: str, server: str | None, expected: AskedMap) -> None:
    """The URL of a TimeMap is requested as it is; that of a page at the server."""
    assert asked_map(text, server) == expected


@pytest.mark.parametrize("text", ["ftp://a.example/", "http://foo.example/*"])
def test_requests_that_are_none(text: str) -> None:
    """A TimeMap is of one page."""
    with pytest.raises((BadUrl, UsageError)):
        asked_map(text, "http://a.example/timemap/link/")
