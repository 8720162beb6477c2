"""The contents of archive files of any crawler, one after the other."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.archive.foreign_warc import http, record, record_id, response, revisit, sha1_base32, write_warc
from webstrata.archive.contents import ContentFile
from webstrata.clock import parse_instant
from webstrata.errors import ArchiveError, UsageError
from webstrata.records import CapturedContent

URL = "http://example.org/"
DATE = "2020-01-01T00:00:00Z"
FILES = Path(__file__).parent.parent / "data" / "conformance" / "warc" / "files"
NOTHING = sha1_base32(b"")


def _read(path: Path, position: str = "", max_body_bytes: int = 10**6) -> list[CapturedContent]:
    return list(ContentFile(path, max_body_bytes=max_body_bytes).read(position))


def _one(tmp_path: Path, *records: bytes, max_body_bytes: int = 10**6) -> CapturedContent:
    (found,) = _read(write_warc(tmp_path / "a.warc.gz", records), max_body_bytes=max_body_bytes)
    return found


def test_response(tmp_path: Path) -> None:
    """A response has its body, the digest that a visit would store, its status and its first headers."""
    found = _one(tmp_path, response(URL, DATE, b"text", 200, "Last-Modified: x", "Last-Modified: y"))
    assert (found.kind, found.url, found.status, found.problem) == ("response", URL, 200, "")
    assert (found.body, found.digest) == (b"text", sha1_base32(b"text"))
    assert found.at == parse_instant(DATE)
    assert (found.headers["content-type"], found.headers["last-modified"]) == ("text/html", "x")


def test_digest_of_the_decoded_transfer(tmp_path: Path) -> None:
    """A chunked body is digested without its chunks; a declared digest of either form is right."""
    chunked = b"4\r\ntext\r\n0\r\n\r\n"
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked
    for declared, is_wrong in ((b"text", False), (chunked, False), (b"other", True)):
        label = sha1_base32(declared)
        found = _one(tmp_path, record("response", URL, DATE, block, WARC_Payload_Digest=label))
        assert (found.digest, found.is_wrong) == (sha1_base32(b"text"), is_wrong)


def test_malformed_digest_is_wrong(tmp_path: Path) -> None:
    """A declared digest that is none cannot be that of the payload; one by an unknown algorithm says nothing."""
    assert _one(tmp_path, response(URL, DATE, b"text", WARC_Payload_Digest="sha1:none")).is_wrong
    assert not _one(tmp_path, response(URL, DATE, b"text", WARC_Payload_Digest="blake3:0123456789")).is_wrong


def test_resource(tmp_path: Path) -> None:
    """A resource record is a content without an HTTP head."""
    found = _one(tmp_path, record("resource", URL, DATE, b"text", **{"Content-Type": "text/plain"}))
    assert (found.status, found.body, found.headers) == (200, b"text", {"content-type": "text/plain"})


@pytest.mark.parametrize(
    ("block", "declared", "status", "digest"),
    [
        (http(), sha1_base32(b"text"), 200, sha1_base32(b"text")),
        (http(b"", 304), sha1_base32(b"text"), 0, sha1_base32(b"text")),
        (http(b"", 304), NOTHING, 0, ""),
        (http(), NOTHING, 200, NOTHING),
    ],
)
def test_revisit(tmp_path: Path, block: bytes, declared: str, status: int, digest: str) -> None:
    """A revisit has the digest that it declares. A response 304 has no status, and a digest of nothing is its own."""
    found = _one(tmp_path, revisit(URL, DATE, block, WARC_Payload_Digest=declared, WARC_Refers_To="<urn:a>"))
    assert (found.kind, found.status, found.digest, found.body) == ("revisit", status, digest, None)
    assert found.refers_to == "urn:a"


def test_large_bodies_are_not_read(tmp_path: Path) -> None:
    """A body above the limit has its declared digest, its status and its headers; memory does not hold it."""
    body = b"x" * 300_000
    large = response(URL, DATE, body, WARC_Payload_Digest=sha1_base32(body))
    for records in ([large], [response(URL, DATE, body)]):
        found = _one(tmp_path, *records, max_body_bytes=10_000)
        assert (found.body, found.status, found.headers["content-type"]) == (None, 200, "text/html")
        assert found.digest == (sha1_base32(body) if records == [large] else "")
        assert found.problem == ""


@pytest.mark.parametrize("is_first", [False, True])
def test_other_requests(tmp_path: Path, is_first: bool) -> None:
    """A response to a POST request is not the page, wherever the request stands."""
    id_ = record_id()
    post = record("request", URL, DATE, b"POST / HTTP/1.1\r\n\r\n", WARC_Concurrent_To=id_)
    get = response("http://example.org/a", DATE, b"a")
    answer = response(URL, DATE, b"text", WARC_Record_ID=id_)
    records = [get, post, answer] if is_first else [get, answer, post]
    found = _read(write_warc(tmp_path / "a.warc.gz", records))
    assert [one.problem for one in found] == ["", "response to another request than GET"]
    resumed = _read(tmp_path / "a.warc.gz", found[0].position)
    assert resumed == found[1:]


def test_cut_contents(tmp_path: Path) -> None:
    """Truncated and partial contents are marked; a torn record is malformed."""
    assert _one(tmp_path, response(URL, DATE, b"text", WARC_Truncated="length")).is_cut
    assert _one(tmp_path, response(URL, DATE, b"text", 206)).is_cut
    whole = response(URL, DATE, b"text" * 1000)
    path = tmp_path / "torn.warc"
    path.write_bytes(whole + whole[:1000])
    found = _read(path)
    assert [one.is_malformed for one in found] == [False, True, True]


def test_archive_of_a_file(tmp_path: Path) -> None:
    """The collection, or else the machine, that a warcinfo record names is the archive of the records after it."""
    info = record("warcinfo", "", DATE, b"hostname: host\r\nisPartOf: The  Collection\r\n")
    other = record("warcinfo", "", DATE, b"software: x\r\nhostname: host\r\n")
    page = response(URL, DATE, b"text")
    found = _read(write_warc(tmp_path / "a.warc.gz", [page, info, page, other, page]))
    assert [one.archive for one in found] == ["", "The Collection", "host"]
    assert _read(tmp_path / "a.warc.gz", found[1].position)[0].archive == "host"


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "one-member.warc.gz"])
def test_resumed_reading_gives_the_same(tmp_path: Path, name: str) -> None:
    """From every position that is given, reading goes on with the same contents."""
    records = [response(f"http://example.org/{n}", DATE, b"%d" % n) for n in range(6)]
    path = tmp_path / name
    if name.startswith("one"):
        path.write_bytes(gzip.compress(b"".join(records)))
    else:
        write_warc(path, records)
    found = _read(path)
    assert [one.body for one in found] == [b"%d" % n for n in range(6)]
    positions = [index for index, one in enumerate(found) if one.position]
    assert positions == ([5] if name.startswith("one") else [0, 1, 2, 3, 4, 5])
    for index in positions:
        assert _read(path, found[index].position) == found[index + 1 :]


def test_damage_in_a_member(tmp_path: Path) -> None:
    """Damage is one item, and the records after it are read."""
    members = [gzip.compress(response(f"http://example.org/{n}", DATE, b"%d" % n)) for n in range(3)]
    members[1] = members[1][:40] + b"\xff" * 40 + members[1][80:]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(members))
    found = _read(path)
    assert [(one.body, one.is_malformed) for one in found] == [(b"0", False), (None, True), (b"2", False)]
    assert found[1].where == f"a.warc.gz:{len(members[0])}"


@pytest.mark.parametrize("path", sorted(FILES.glob("*")), ids=lambda path: path.name)
def test_outside_files(path: Path) -> None:
    """The files of outside suites, valid and invalid, are read to their ends, and can be read on from any position."""
    if not path.name.endswith((".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz")):
        return
    found = _read(path)
    for index, one in enumerate(found):
        if one.position:
            assert len(_read(path, one.position)) == len(found) - index - 1
    assert not found or found[-1].done <= 1.0


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    """A missing file, one with another ending, and a broken package are errors that say what to give."""
    with pytest.raises(UsageError, match="cannot read"):
        ContentFile(tmp_path / "missing.warc", max_body_bytes=1)
    other = tmp_path / "a.txt"
    other.write_text("text")
    with pytest.raises(ArchiveError, match="not a supported archive file"):
        ContentFile(other, max_body_bytes=1)
    package = tmp_path / "a.wacz"
    package.write_text("text")
    with pytest.raises(ArchiveError, match="not a WACZ file"):
        ContentFile(package, max_body_bytes=1)
