"""Attacks on WARC records: left out, added, altered, in another order, and malformed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib
from collections.abc import Iterator

from tests.attacks.forgery.attack_list import attack
from tests.attacks.forgery.forged_package import WARC, Depth, ForgedPackage, ForgedRecord

RECORD = "record|observation|named|not there|missing"


@attack(RECORD)
def left_out_contrary_record(forged: ForgedPackage) -> bytes:
    """The record of a 500 between two equal responses is left out of the archive; the certificate still names it."""
    forged.remove_record(forged.record("flaky", 1))
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("is named by 0|record|observation")
def left_out_contrary_observation(forged: ForgedPackage) -> bytes:
    """The observation of a 500 is left out of the certificate, and the page called sharp; its record is still there."""
    page = forged.page("flaky")
    del page["observations"][1]
    page |= {
        "verdict": "sharp",
        "visit": 0,
        "revisit": 1,
        "equal": dict.fromkeys(page["observations"][0]["layers"], True),
    }
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack(RECORD)
def left_out_entry(forged: ForgedPackage) -> bytes:
    """The entry of a blurred page is left out of the certificate; its records are still there."""
    forged.certificate["pages"].remove(forged.page("changing"))
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack(f"{RECORD}|part|requisite")
def left_out_requisite(forged: ForgedPackage) -> bytes:
    """The entry of a requisite is left out with its records; pages still name it."""
    entry = forged.page("i.png")
    for seen in entry["observations"]:
        forged.remove_record(forged.by_id(seen["record"]))
    forged.certificate["requisites"].remove(entry)
    forged.recount()
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("request|concurrent")
def left_out_response_with_its_request_kept(forged: ForgedPackage) -> bytes:
    """A page is left out with its responses, but the requests for it are still in the archive."""
    page = forged.page("changing")
    names = {seen["record"] for seen in page["observations"]}
    forged.records = [record for record in forged.records if record.id not in names]
    forged.certificate["pages"].remove(page)
    forged.recount()
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


def _altered_copy(forged: ForgedPackage) -> bytes:
    """A WARC file with altered records under the ids of the real ones."""
    out = b""
    for record in forged.records:
        copy = ForgedRecord(record.plain())
        if b"words of a page" in copy.block:
            copy.replace(b"words of a page", b"other words now")
        out += gzip.compress(copy.plain(), mtime=0)
    return out


@attack("two records|twice|id|more than|duplicate|repeated|listed")
def second_archive_with_the_same_ids(forged: ForgedPackage) -> Iterator[bytes]:
    """A WARC file with altered records under the same ids stands first, at each depth."""
    for depth in Depth:
        other = ForgedPackage(forged.honest)
        other.files = {"archive/a.warc.gz": _altered_copy(other), **other.files}
        yield other.pack(depth)


@attack("index|record|certif|digest")
def second_archive_with_an_index(forged: ForgedPackage) -> bytes:
    """An altered WARC file stands first, and the index leads to its records; digests are repaired."""
    forged.files = {"archive/a.warc.gz": _altered_copy(forged), **forged.files}
    forged.set_lines([line.replace("data.warc.gz", "a.warc.gz") for line in forged.lines()])
    return forged.pack(Depth.DIGESTS)


@attack("digest|records are not|certif")
def altered_record(forged: ForgedPackage) -> bytes:
    """The words of a page are replaced in the archive; digests in datapackage.json are repaired."""
    forged.files[WARC] = _altered_copy(forged)
    return forged.pack(Depth.DIGESTS)


@attack("layer|digest|content|payload")
def altered_record_by_the_signer(forged: ForgedPackage) -> bytes:
    """The words of a page are replaced with all digests of WARC and package; the certified layers are the old ones."""
    record = forged.record("steady")
    record.replace(b"words of a page", b"other words now")
    for seen in forged.page("steady")["observations"]:
        forged.by_id(seen["record"])["WARC-Payload-Digest"] = seen["payload"] = record["WARC-Payload-Digest"]
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("digest")
def altered_payload_with_old_digest(forged: ForgedPackage) -> bytes:
    """A payload is altered, and its stated digest is left."""
    record = forged.record("steady")
    record.block = record.block.replace(b"words of a page", b"other words now")
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("digest|layer|payload")
def payload_digest_of_another_record(forged: ForgedPackage) -> bytes:
    """A record states the payload digest of another page."""
    digest = forged.record("other")["WARC-Payload-Digest"]
    forged.record("steady")["WARC-Payload-Digest"] = digest
    forged.page("steady")["observations"][0]["payload"] = digest
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("digest|algorithm|kind")
def other_digest_algorithms(forged: ForgedPackage) -> Iterator[bytes]:
    """The payload digest is named md5, or sha1 in another encoding, or has no algorithm."""
    value = hashlib.sha1(forged.record("steady").body).digest()
    digests = (
        "md5:" + hashlib.md5(forged.record("steady").body).hexdigest(),
        "sha1:" + value.hex(),
        "sha256:" + base64.b32encode(value).decode(),
        "x",
    )
    for digest in digests:
        other = ForgedPackage(forged.honest)
        other.record("steady")["WARC-Payload-Digest"] = digest
        for seen in other.page("steady")["observations"]:
            other.by_id(seen["record"])["WARC-Payload-Digest"] = seen["payload"] = digest
        other.rebuild()
        yield other.pack(Depth.SIGNER)


def _revisit(forged: ForgedPackage) -> ForgedRecord:
    return next(record for record in forged.records if record["WARC-Type"] == "revisit")


@attack("refers|original|digest|payload")
def revisit_of_another_page(forged: ForgedPackage) -> bytes:
    """A revisit record refers to the record of another page."""
    other = forged.record("cached")
    revisit = forged.record("steady", 1)
    assert revisit["WARC-Type"] == "revisit"
    revisit["WARC-Refers-To"] = other["WARC-Record-ID"]
    revisit["WARC-Refers-To-Target-URI"] = other["WARC-Target-URI"]
    revisit["WARC-Refers-To-Date"] = other["WARC-Date"]
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("refers|original|record")
def revisit_without_original(forged: ForgedPackage) -> bytes:
    """A revisit record refers to a record that is not in the package."""
    _revisit(forged)["WARC-Refers-To"] = "<urn:uuid:00000000-0000-0000-0000-000000000000>"
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("refers|original|record")
def revisit_of_a_revisit(forged: ForgedPackage) -> bytes:
    """A revisit record refers to itself."""
    revisit = _revisit(forged)
    revisit["WARC-Refers-To"] = revisit["WARC-Record-ID"]
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("original|record|needs|refer")
def hidden_as_original(forged: ForgedPackage) -> bytes:
    """A contrary record of this capture is called an original, which no observation names."""
    page = forged.page("flaky")
    forged.certificate["archive"]["originals"].append(page["observations"][1]["record"])
    del page["observations"][1]
    page |= {
        "verdict": "sharp",
        "visit": 0,
        "revisit": 1,
        "equal": dict.fromkeys(page["observations"][0]["layers"], True),
    }
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("observation")
def one_record_for_two_observations(forged: ForgedPackage) -> bytes:
    """The revisit of a changed page names the record of the visit."""
    first, second = forged.page("changing")["observations"][:2]
    second |= {name: first[name] for name in ("record", "payload", "layers")}
    return forged.pack(Depth.SIGNER)


@attack("two|twice|id|repeated|duplicate")
def record_id_twice(forged: ForgedPackage) -> bytes:
    """Two records of one file have the same id, and different contents."""
    copy = ForgedRecord(forged.record("steady").plain())
    copy.replace(b"words of a page", b"other words now")
    forged.records.append(copy)
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("too large|limit|inflate|digest|record")
def gzip_bomb(forged: ForgedPackage) -> bytes:
    """A record of 400 MB of zeros is compressed to 400 kB."""
    forged.files[WARC] += _bomb(400)
    return forged.pack(Depth.SIGNER)


def _bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1_000_000)
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
    head += b"WARC-Target-URI: http://a.example/\r\nContent-Type: text/plain\r\nContent-Length: %d000000\r\n\r\n"
    return (
        packer.compress(head % megabytes)
        + b"".join(packer.compress(zeros) for _ in range(megabytes))
        + packer.compress(b"\r\n\r\n")
        + packer.flush()
    )


@attack("read|gzip|member|complete|damaged|trailing|record")
def trailing_garbage(forged: ForgedPackage) -> bytes:
    """Bytes that are no record follow the last record."""
    forged.files[WARC] += b"garbage after the last record"
    return forged.pack(Depth.SIGNER)


@attack("read|gzip|member|complete|truncated|damaged|record")
def truncated_last_record(forged: ForgedPackage) -> bytes:
    """The WARC file ends within its last record."""
    forged.files[WARC] = forged.files[WARC][:-20]
    return forged.pack(Depth.SIGNER)


@attack("length|record")
def content_length_lies(forged: ForgedPackage) -> Iterator[bytes]:
    """The Content-Length of a record is shorter or longer than its block, so that text hides behind it."""
    for lie in (-20, 20):
        other = ForgedPackage(forged.honest)
        record = other.record("steady")
        record.length = len(record.block) + lie
        other.rebuild()
        yield other.pack(Depth.SIGNER)


@attack("record|length|member")
def two_records_in_one_member(forged: ForgedPackage) -> bytes:
    """A gzip member holds a second record, which readers that use the index do not see."""
    hidden = ForgedRecord(forged.record("steady").plain())
    hidden["WARC-Record-ID"] = "<urn:uuid:11111111-1111-1111-1111-111111111111>"
    forged.record("other").end += hidden.plain()
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("record|field|repeated|twice|header")
def repeated_header_field(forged: ForgedPackage) -> bytes:
    """A record has two target URIs: programs differ in which one they read."""
    record = forged.record("steady")
    record.fields.append(("WARC-Target-URI", forged.url("secret")))
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("type|kind|record")
def record_of_another_type(forged: ForgedPackage) -> bytes:
    """A conversion record with other words of a page is added, which no observation names."""
    copy = ForgedRecord(forged.record("steady").plain())
    copy["WARC-Record-ID"] = "<urn:uuid:22222222-2222-2222-2222-222222222222>"
    copy["WARC-Type"] = "conversion"
    forged.records.append(copy)
    forged.rebuild()
    return forged.pack(Depth.SIGNER)


@attack("record|index|certif|digest")
def records_in_another_order(forged: ForgedPackage) -> bytes:
    """The records are in another order; the index is that of the old order."""
    members = [gzip.compress(record.plain(), mtime=0) for record in reversed(forged.records)]
    forged.files[WARC] = b"".join(members)
    forged.state_records()
    return forged.pack(Depth.SIGNER)


@attack("url|target|record")
def record_of_another_url(forged: ForgedPackage) -> bytes:
    """An observation names a record of another URL with the same content."""
    forged.record("steady", 1)["WARC-Target-URI"] = forged.url("other")
    forged.rebuild()
    return forged.pack(Depth.SIGNER)
