"""Revisit records: the originals that they name, chains of them, and originals that are not in the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.foreign_warc import NOT_MODIFIED, http, record_id, response, revisit, sha1_base32, write_warc
from webstrata.archive.sightings import sightings
from webstrata.records import Sighting
from webstrata.sharp.proof.collection import coherence

URL, OTHER = "http://example.org/a", "http://example.org/b"
BODY = b"<p>hello"
DIGEST = sha1_base32(BODY)
DATES = [f"2026-09-01T10:{minute:02}:00Z" for minute in range(60)]
FIRST, SECOND, THIRD = DATES[:3]

Read = Callable[..., list[Sighting]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(*records: bytes) -> list[Sighting]:
        return list(sightings(write_warc(tmp_path / "a.warc.gz", records)))

    return read


def by_record(original: str) -> dict[str, str]:
    return {"WARC_Refers_To": original, "WARC_Payload_Digest": DIGEST}


@pytest.mark.parametrize(
    "fields",
    [
        {"WARC_Refers_To": "<urn:uuid:1>"},
        {"WARC_Refers_To": "<urn:uuid:missing>", "WARC_Payload_Digest": DIGEST},
        {"WARC_Refers_To_Target_URI": URL, "WARC_Refers_To_Date": FIRST},
        {"WARC_Refers_To_Target_URI": f"<{URL}>", "WARC_Refers_To_Date": "2026-09-01T10:00:00.25Z"},
        {"WARC_Payload_Digest": DIGEST},
        {"WARC_Payload_Digest": "SHA-1:" + DIGEST.partition(":")[2].lower()},
    ],
    ids=["record", "digest instead of a missing record", "date", "finer date", "digest", "digest spelled otherwise"],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_the_original_is_found(read: Read, fields: dict[str, str], is_first: bool) -> None:
    """By its identifier, by its URL and date, or by its digest; also if it follows the revisit."""
    original = response(URL, FIRST, BODY, WARC_Record_ID="<urn:uuid:1>", WARC_Payload_Digest=DIGEST)
    again = revisit(URL, SECOND, **fields)
    seen = read(*((again, original) if is_first else (original, again)))

    assert len({one.content for one in seen}) == 1
    assert {one.evidence for one in seen} == {"payload", "revisit"}
    (page,) = coherence(seen).pages
    assert page.window is not None
    assert page.window.evidence == "revisit"


def test_a_chain_of_revisits(read: Read) -> None:
    """Each names the one before, as a crawler writes it whose history holds only the last visit."""
    ids = [record_id() for _ in DATES]
    chain = [
        revisit(URL, date, **by_record(before), WARC_Record_ID=own)
        for date, own, before in zip(DATES[1:], ids[1:], ids, strict=False)
    ]
    seen = read(response(URL, FIRST, BODY, WARC_Record_ID=ids[0]), *chain)

    assert len({one.content for one in seen}) == 1
    assert coherence(seen).proved == 1


def test_a_long_chain_is_followed_once(read: Read) -> None:
    """8,000 revisits, each of the next one, take no quadratic time; written in the worst order."""
    ids = [f"<urn:x:{number}>" for number in range(8_001)]
    chain = [revisit(URL, THIRD, WARC_Refers_To=ids[number + 1], WARC_Record_ID=ids[number]) for number in range(8_000)]
    seen = read(*chain, response(URL, FIRST, BODY, WARC_Record_ID=ids[-1]))

    assert len({one.content for one in seen}) == 1


def test_a_circle_of_revisits(read: Read) -> None:
    """Revisits of each other have no payload: only their digests are known."""
    one, other = record_id(), record_id()
    seen = read(
        revisit(URL, FIRST, **by_record(other), WARC_Record_ID=one),
        revisit(URL, SECOND, **by_record(one), WARC_Record_ID=other),
        revisit(URL, THIRD, WARC_Refers_To="<urn:uuid:self>", WARC_Record_ID="<urn:uuid:self>"),
    )

    assert [sighting.evidence for sighting in seen[:2]] == ["declared", "declared"]
    assert seen[2].content == ""


def test_not_modified(read: Read) -> None:
    """A 304 has the content and the status of its original. Some crawlers declare the digest of the empty response."""
    original = record_id()
    unmodified = http(b"", 304)
    seen = read(
        response(URL, FIRST, BODY, WARC_Record_ID=original),
        revisit(URL, SECOND, unmodified, WARC_Profile=NOT_MODIFIED, WARC_Refers_To=original),
        revisit(
            URL,
            THIRD,
            unmodified,
            WARC_Profile=NOT_MODIFIED,
            WARC_Refers_To=original,
            WARC_Payload_Digest=sha1_base32(b""),
        ),
    )

    assert {(one.content, one.status, one.has_wrong_digest) for one in seen} == {(seen[0].content, 200, False)}
    assert coherence(seen).proved == 1


def test_not_modified_without_an_original_tells_nothing(read: Read) -> None:
    """For which content the server answered 304 is not known; an empty page elsewhere is not it."""
    unmodified = revisit(URL, SECOND, http(b"", 304), WARC_Profile=NOT_MODIFIED, WARC_Payload_Digest=sha1_base32(b""))
    seen = read(response(OTHER, FIRST, b""), response(URL, FIRST, BODY), unmodified)

    assert (seen[-1].content, seen[-1].status) == ("", 304)
    assert coherence(seen).proved == 0


def test_declared_digests_only(read: Read) -> None:
    """Revisits of an original that is not in the files equal each other, and are counted."""
    far = {"WARC_Refers_To": "<urn:uuid:elsewhere>"}
    seen = read(
        revisit(URL, FIRST, WARC_Payload_Digest=DIGEST, **far),
        revisit(URL, SECOND, WARC_Payload_Digest=DIGEST.replace("sha1", "SHA-1"), **far),
        revisit(OTHER, FIRST, WARC_Payload_Digest=DIGEST, **far),
        revisit(OTHER, SECOND, WARC_Payload_Digest=sha1_base32(b"changed"), **far),
    )
    result = coherence(seen)

    assert (result.proved, result.declared) == (1, 4)
    assert [page.standing for page in result.pages] == ["proved", "changed"]


def test_a_declared_digest_equals_no_payload(read: Read) -> None:
    """A declared SHA-512 is not compared with a payload whose SHA-512 is not declared."""
    digest = f"sha512:{'0' * 128}"
    seen = read(response(URL, FIRST, BODY), revisit(URL, SECOND, WARC_Payload_Digest=digest))

    assert (coherence(seen).proved, coherence(seen).declared) == (0, 1)


def test_a_revisit_that_contradicts_its_original(read: Read) -> None:
    """Its digest is not that of the payload that it names: it is reported, and does not count as equal."""
    original = record_id()
    seen = read(
        response(URL, FIRST, BODY, WARC_Record_ID=original),
        revisit(URL, SECOND, WARC_Refers_To=original, WARC_Payload_Digest=sha1_base32(b"other")),
    )
    result = coherence(seen)

    assert (result.proved, result.declared, len(result.wrong_digests)) == (0, 1, 1)


def test_a_wrong_digest_of_an_original_is_not_inherited(read: Read) -> None:
    """The original's own payload counts: revisits with its wrong digest are not proof of that payload."""
    original, wrong = record_id(), sha1_base32(b"other")
    seen = read(
        response(URL, FIRST, BODY, WARC_Record_ID=original, WARC_Payload_Digest=wrong),
        revisit(URL, SECOND, WARC_Refers_To=original, WARC_Payload_Digest=wrong),
    )

    assert [one.has_wrong_digest for one in seen] == [True, True]
    assert coherence(seen).proved == 0


def test_an_identifier_with_two_contents_names_none(read: Read) -> None:
    """If two records have the identifier that a revisit names, its digest decides."""
    twice = {"WARC_Record_ID": "<urn:uuid:twice>"}
    records = response(OTHER, FIRST, b"forged", **twice), response(URL, FIRST, BODY, **twice)
    seen = read(*records, revisit(URL, SECOND, WARC_Refers_To="<urn:uuid:twice>", WARC_Payload_Digest=DIGEST))
    assert seen[2].content == seen[1].content

    (*_, without) = read(*records, revisit(URL, SECOND, WARC_Refers_To="<urn:uuid:twice>"))
    assert without.content == ""


def test_an_error_that_is_repeated_is_an_error(read: Read) -> None:
    """A revisit without a head has the status of its original."""
    original = record_id()
    seen = read(
        response(URL, FIRST, BODY, 404, WARC_Record_ID=original),
        revisit(URL, SECOND, b"\r\n", WARC_Refers_To=original),
    )

    assert [one.status for one in seen] == [404, 404]
    assert coherence(seen).proved == 0


def test_a_revisit_of_a_truncated_payload(read: Read) -> None:
    """An equal beginning does not prove an equal page."""
    original = record_id()
    seen = read(
        response(URL, FIRST, BODY, WARC_Record_ID=original, WARC_Truncated="time"),
        revisit(URL, SECOND, WARC_Refers_To=original),
    )

    assert [one.failure for one in seen] == ["truncated", "truncated"]


def test_a_redirect_that_is_repeated(read: Read) -> None:
    """Its content is the target that its own head names."""
    original = record_id()
    seen = read(
        response(URL, FIRST, b"moved", 301, "Location: /b", WARC_Record_ID=original),
        revisit(URL, SECOND, http(b"", 301, "Location: /b"), WARC_Refers_To=original),
        revisit(URL, THIRD, http(b"", 301, "Location: /c"), WARC_Refers_To=original),
    )

    assert [one.content for one in seen] == [OTHER, OTHER, "http://example.org/c"]


def test_a_revisit_in_another_file(tmp_path: Path) -> None:
    """A later crawl is often in a file of its own. Without the first file, its contents are declared only."""
    first = write_warc(tmp_path / "1.warc.gz", [response(URL, FIRST, BODY, WARC_Payload_Digest=DIGEST)])
    second = write_warc(tmp_path / "2.warc.gz", [revisit(URL, SECOND, WARC_Payload_Digest=DIGEST)])

    assert coherence(sightings(second, first)).proved == 1
    assert [one.evidence for one in sightings(second)] == ["declared"]
