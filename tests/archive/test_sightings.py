"""Sightings from the records of other crawlers: times, contents, statuses."""

from __future__ import annotations

import gzip
import hashlib
import math
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.foreign_warc import http, record, record_id, response, sha1_base32, write_warc
from webstrata.archive.sightings import sightings
from webstrata.records import Sighting
from webstrata.sharp.proof.collection import coherence

URL = "http://example.org/a"
BODY = b"<p>hello"
FIRST, SECOND, THIRD = "2026-09-01T10:00:00Z", "2026-09-01T10:00:10Z", "2026-09-01T10:00:20Z"
AT = 1_788_256_800.0

Read = Callable[..., list[Sighting]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Writes records to a file and reads its sightings."""

    def read(*records: bytes, name: str = "a.warc.gz", **options: object) -> list[Sighting]:
        return list(sightings(write_warc(tmp_path / name, records), **options))  # type: ignore[arg-type]

    return read


# ── times ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_date_is_an_interval(read: Read) -> None:
    """The download began within the second of its date, and took a second at most if nothing tells its duration."""
    (seen,) = read(response(URL, FIRST, BODY))

    assert (seen.at, seen.ended_by, seen.resolution_s, seen.is_end_assumed) == (AT, AT + 2.0, 1.0, True)
    (slow,) = read(response(URL, FIRST, BODY), longest_download_s=30.0)
    assert slow.ended_by == AT + 31.0


def test_a_recorded_duration_is_used(read: Read) -> None:
    """Heritrix writes `fetchTimeMs` in a metadata record of the same download, before or after the response."""
    one, other = record_id(), record_id()
    block = b"via: http://example.org/\r\nhopsFromSeed: L\r\nfetchTimeMs: 250\r\n"
    first, second = read(
        response(URL, FIRST, BODY, WARC_Record_ID=one),
        record("metadata", URL, FIRST, block, WARC_Concurrent_To=one),
        record("metadata", URL, SECOND, b"fetchTimeMs: 500\r\n", WARC_Refers_To=other),
        response(URL, SECOND, BODY, WARC_Record_ID=other),
    )

    assert (first.ended_by - first.at, first.is_end_assumed) == (1.25, False)
    assert (second.ended_by - second.at, second.is_end_assumed) == (1.5, False)


@pytest.mark.parametrize("took", ["-1", "NaN", "1e3", "9" * 13, "", "\u0661"])
def test_a_duration_of_another_form_is_not_used(read: Read, took: str) -> None:
    capture = record_id()
    metadata = record("metadata", URL, FIRST, f"fetchTimeMs: {took}".encode(), WARC_Concurrent_To=capture)
    (seen,) = read(response(URL, FIRST, BODY, WARC_Record_ID=capture), metadata)

    assert seen.is_end_assumed


def test_a_record_without_a_date_contradicts_at_any_time(read: Read) -> None:
    """When it was seen is not known, so no window of the page is certain."""
    equal = (response(URL, FIRST, BODY), response(URL, THIRD, BODY))
    assert coherence(read(*equal)).proved == 1

    seen = read(*equal, response(URL, "yesterday", b"other"))
    assert (seen[-1].at, seen[-1].ended_by) == (-math.inf, math.inf)
    assert coherence(seen).proved == 0


# ── contents ────────────────────────────────────────────────────────────────────────────────────────────────

_SHA1, _SHA256 = hashlib.sha1(BODY, usedforsecurity=False), hashlib.sha256(BODY)
SPELLINGS = [
    sha1_base32(BODY),
    sha1_base32(BODY).removeprefix("sha1:"),
    sha1_base32(BODY).lower(),
    f"sha1:{_SHA1.hexdigest()}",
    f"SHA-1:{_SHA1.hexdigest().upper()}",
    f"sha256:{_SHA256.hexdigest()}",
    f"SHA-256:{b64encode(_SHA256.digest()).decode()}",
    f"md5:{hashlib.md5(BODY, usedforsecurity=False).hexdigest()}",
    f"sha512:{hashlib.sha512(BODY).hexdigest()}",
    "blake2b:1234",
]


@pytest.mark.parametrize("declared", SPELLINGS)
def test_contents_are_compared_by_bytes(read: Read, declared: str) -> None:
    """However a file spells its digest, with whatever algorithm or without one, equal bodies are equal contents."""
    first, second = read(response(URL, FIRST, BODY, WARC_Payload_Digest=declared), response(URL, SECOND, BODY))

    assert first.content == second.content == f"sha256:{_SHA256.hexdigest()}"
    assert not first.has_wrong_digest


@pytest.mark.parametrize("declared", [sha1_base32(b"other"), f"sha256:{'0' * 64}", "sha1:short", "md5:\u00e9"])
def test_a_wrong_digest_is_reported_and_the_bytes_count(read: Read, declared: str) -> None:
    """A digest that was copied to another content does not make it equal."""
    first, second = read(
        response(URL, FIRST, BODY, WARC_Payload_Digest=declared),
        response(URL, SECOND, b"other", WARC_Payload_Digest=declared),
    )

    assert first.has_wrong_digest
    assert first.content != second.content
    result = coherence([first, second])
    assert result.proved == 0
    assert result.wrong_digests[0].url == URL


def test_chunks_are_no_content(read: Read) -> None:
    """The same body in other chunks is the same content, and a digest of either form is right."""
    chunked = "Transfer-Encoding: chunked"
    one, other = b"8\r\n<p>hello\r\n0\r\n\r\n", b"3\r\n<p>\r\n5;x=y\r\nhello\r\n0\r\n\r\n"
    seen = read(
        response(URL, FIRST, one, 200, chunked, WARC_Payload_Digest=sha1_base32(one)),
        response(URL, SECOND, other, 200, chunked, WARC_Payload_Digest=sha1_base32(BODY)),
        response(URL, THIRD, BODY),
    )

    assert len({sighting.content for sighting in seen}) == 1
    assert not any(sighting.has_wrong_digest for sighting in seen)


def test_content_codings_are_compared_as_archived(read: Read) -> None:
    """A body that only looks chunked is left as it is."""
    first, second = read(response(URL, FIRST, b"0\r\n\r\n"), response(URL, SECOND, b""))

    assert first.content != second.content


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_a_payload_that_is_not_kept_is_known_by_its_digest(
    read: Read, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a record that is too large for memory only the declared digest is known; without one it is a failure."""
    monkeypatch.setattr("webstrata.archive.sightings._MAX_BLOCK_BYTES", 2_000)
    large = BODY * 1_000
    one, other = read(
        response(URL, FIRST, large, WARC_Payload_Digest=sha1_base32(large)), response(URL, SECOND, large), name=name
    )

    assert (one.content.partition(" ")[0], one.evidence, one.failure) == ("declared", "declared", "")
    assert other.failure.startswith("the payload is too large")


# ── statuses ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [404, 403, 429, 500, 503])
def test_an_error_between_two_equal_contents_prevents_the_proof(read: Read, status: int) -> None:
    result = coherence(
        read(response(URL, FIRST, BODY), response(URL, SECOND, BODY, status), response(URL, THIRD, BODY))
    )

    (page,) = result.pages
    assert (result.proved, page.windows, page.statuses) == (0, (), (200, status))


@pytest.mark.parametrize(
    "broken",
    [
        response(URL, SECOND, BODY, WARC_Truncated="length"),
        response(URL, SECOND, BODY, 206),
        response(URL, SECOND, b"", 302),
        response(URL, SECOND, b"", 302, "Location: /a"),
        response(URL, SECOND, b"", 302, "Location: mailto:me@example.org"),
        record("response", URL, SECOND, b"no status line\r\n\r\n"),
        record("response", URL, SECOND, BODY, Content_Type="text/html"),
        response(URL, SECOND, BODY)[:-20],
    ],
    ids=["truncated", "partial", "no target", "loop", "mail", "no status", "no message", "torn"],
)
def test_a_failed_download_prevents_the_proof(read: Read, broken: bytes) -> None:
    result = coherence(read(response(URL, FIRST, BODY), response(URL, THIRD, BODY), broken))

    assert result.proved == 0


def test_redirects(read: Read) -> None:
    """The content of a redirect is the address that it names, whatever its body and however it is written."""
    first, second = read(
        response(URL, FIRST, b"one", 301, "Location: /target#part"),
        response(URL, SECOND, b"two", 301, "Location: http://example.org:80/target"),
    )

    assert first.content == second.content == first.target == "http://example.org/target"
    assert coherence([first, second]).proved == 1


# ── what is no page ─────────────────────────────────────────────────────────────────────────────────────────


def test_records_that_are_no_pages(read: Read) -> None:
    """robots.txt, identifiers of derived records, and records of other types are left out."""
    kept = response(URL, FIRST, BODY)
    others = [
        response("http://example.org/robots.txt", FIRST, BODY),
        record("resource", f"urn:text:{URL}", FIRST, BODY, Content_Type="text/plain"),
        record("resource", f"urn:pageinfo:{URL}", FIRST, b"{}", Content_Type="application/json"),
        record("response", "dns:example.org", FIRST, b"x", Content_Type="text/dns"),
        record("conversion", URL, FIRST, BODY, Content_Type="text/plain"),
    ]

    assert [seen.url for seen in read(kept, *others)] == [URL]


def test_a_resource_is_a_page(read: Read) -> None:
    """Tools that convert files write resource records with the URLs of pages."""
    (seen,) = read(record("resource", URL, FIRST, BODY, Content_Type="text/html"))

    assert (seen.status, seen.content) == (200, f"sha256:{_SHA256.hexdigest()}")


def test_responses_to_other_requests_than_get(read: Read) -> None:
    """A response to POST is not the page. The request names the response, or the response the request."""
    posted, asked = record_id(), record_id()
    seen = read(
        response(URL, FIRST, BODY, WARC_Record_ID=posted),
        record("request", URL, FIRST, b"POST /a HTTP/1.1\r\n\r\n", WARC_Concurrent_To=posted),
        record("request", URL, SECOND, b"HEAD /a HTTP/1.1\r\n\r\n", WARC_Record_ID=asked),
        response(URL, SECOND, b"", WARC_Concurrent_To=asked),
        response(URL, THIRD, BODY),
        record("request", URL, THIRD, b"GET /a HTTP/1.1\r\n\r\n"),
    )

    assert [sighting.at for sighting in seen] == [AT + 20]


def test_a_record_in_two_files_counts_once(tmp_path: Path) -> None:
    """The same file given twice proves no more than once."""
    path = write_warc(tmp_path / "a.warc.gz", [response(URL, FIRST, BODY), response(URL, SECOND, BODY)])

    assert len(list(sightings(path, path))) == 2


def test_a_media_type_selects_pages_with_all_their_sightings(read: Read) -> None:
    """An error of another type is not left out: it interrupts the proof of the page."""
    error = record("response", URL, SECOND, b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\n\r\n")
    picture = record(
        "response", f"{URL}.png", FIRST, http(BODY).replace(b"text/html", b"image/png"), Content_Type="application/http"
    )
    seen = read(response(URL, FIRST, BODY), error, response(URL, THIRD, BODY), picture, media_type="text/HTML")

    assert [(sighting.url, sighting.status) for sighting in seen] == [(URL, 200), (URL, 500), (URL, 200)]


def test_damage_is_reported(tmp_path: Path) -> None:
    """Places that cannot be read are passed to the caller; what follows them is read."""
    path = write_warc(tmp_path / "a.warc.gz", [response(URL, FIRST, BODY), response(URL, SECOND, BODY)])
    data = path.read_bytes()
    path.write_bytes(data[:50] + b"XXXX" + data[54:])
    damaged: list[object] = []

    assert [seen.at for seen in sightings(path, on_damage=damaged.append)] == [AT + 10]
    assert len(damaged) == 1


def test_one_member_for_all_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All records of the member are read; if it is too large for memory, the rest is reported as damaged."""
    records = [response(URL, date, BODY * 40) for date in (FIRST, SECOND, THIRD)]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(records)))
    damaged: list[object] = []
    assert coherence(sightings(path, on_damage=damaged.append)).proved == 1
    assert damaged == []

    monkeypatch.setattr("webstrata.archive.sightings._MAX_BLOCK_BYTES", 1_500)
    seen = list(sightings(path, on_damage=damaged.append))
    assert [one.failure for one in seen] == ["", "", "incomplete record"]
    assert len(damaged) == 1


def test_arc_files(tmp_path: Path) -> None:
    """Dates of 14 digits have the resolution of a second."""
    block = http(BODY)
    lines = [b"%s 192.0.2.1 %s text/html %d\n" % (URL.encode(), date, len(block)) for date in (b"20260901100000",)]
    (tmp_path / "a.arc").write_bytes(b"".join(line + block + b"\n" for line in lines))
    (seen,) = sightings(tmp_path / "a.arc")

    assert (seen.at, seen.resolution_s, seen.status) == (AT, 1.0, 200)
