"""Checks the certificate of a Webstrata capture against its WACZ file; needs Python and the package `cryptography`.

    python verify_capture.py CAPTURE.wacz [fingerprint of the key that must have signed]

It shares no code with Webstrata, so that a fault there cannot hide itself here. Prints what fails, one line each, and
exits with 1; or says what was proved, and exits with 0. An RFC 3161 time stamp must be granted and for this signature;
NOT checked is who made it (the authority's signature and certificates): `openssl ts -verify` does that.
"""

import base64
import hashlib
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

when = datetime.fromisoformat
SHA256 = bytes.fromhex("608648016503040201")  # the object identifier 2.16.840.1.101.3.4.2.1
UNREADABLE = zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, zlib.error


def check(path: str, expected_key: str | None = None) -> tuple[Any, list[str]]:
    """(certificate or None, list of faults)"""
    faults: list[str] = []
    try:
        with zipfile.ZipFile(path) as package, Path(path).open("rb") as raw:
            faults += layout(package, raw)
            files = {name: package.read(name) for name in package.namelist()}
        envelope = json.loads(files["proof/certificate.json"])
        certificate = envelope["certificate"]
        if (certificate["type"], certificate["version"]) != ("webstrata/capture", 1):
            return None, ["certificate: of another kind"]
        faults += signature(envelope, expected_key) + stamp(envelope)
        faults += packing(files, certificate) + archive(files, certificate) + verdicts(certificate)
        return certificate, faults
    except (LookupError, TypeError, AttributeError, struct.error, *UNREADABLE) as problem:
        return None, [*faults, f"package: missing or unreadable, or a field is not what it should be ({problem!r})"]


def layout(package: zipfile.ZipFile, raw: BinaryIO) -> list[str]:
    """No byte of the ZIP file outside its contents may be other than one program would have written."""
    faults: list[str] = []
    at, listed, alone, entries = 0, 0, set(), package.infolist()
    for one in entries:
        raw.seek(one.header_offset)
        local = struct.unpack("<4sHHHHHLLLHH", raw.read(30))
        name, extra, size = raw.read(local[9]), raw.read(local[10]), one.file_size
        wide = extra == struct.pack("<HHQQ", 1, 16, size, size) and local[7] == local[8] == 0xFFFFFFFF
        sizes = one.compress_size == size and (wide or (not extra and local[7] == local[8] == size))
        year, month, day, hour, minute, second = one.date_time
        moment = hour << 11 | minute << 5 | second >> 1, (year - 1980) << 9 | month << 5 | day
        said = (one.flag_bits, one.compress_type, *moment, one.CRC, one.orig_filename.encode())
        versions = {local[1], one.create_version, one.extract_version + 256 * one.reserved} <= {20, 45}
        plain = versions and one.volume == 0 and (not one.extra or max(size, one.header_offset) >= 0xFFFFFFFF)
        raw.seek(package.start_dir + listed + 28)
        plain = plain and struct.unpack("<HHH", raw.read(6)) == (len(name), len(one.extra), 0)
        if one.header_offset != at or local[0] != b"PK\3\4" or not (sizes and plain and said == (*local[2:7], name)):
            faults.append(f"package: the ZIP header of {name!r} is not as it was written")
        alone.add((one.create_system, one.internal_attr, one.external_attr))
        at, listed = at + 30 + len(name) + len(extra) + size, listed + 46 + len(name) + len(one.extra)
    length = raw.seek(0, 2)
    raw.seek(length - 22)
    magic, disk, first, here, total, size, offset, comment = struct.unpack("<4sHHHHLLH", raw.read(22))
    sound = magic == b"PK\5\6" and disk == first == comment == 0 and at == package.start_dir and len(alone) == 1
    if offset < 0xFFFFFFFF and total < 0xFFFF:
        sound = sound and here == total == len(entries) and (offset, size) == (at, listed) and at + size + 22 == length
    return faults if sound else [*faults, "package: the ZIP directory is not as it was written"]


def signature(envelope: Any, expected_key: str | None) -> list[str]:
    signed = envelope["signature"]
    text = json.dumps(envelope["certificate"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        public, value = (base64.b64decode(signed[name], validate=True) for name in ("public_key", "value"))
        Ed25519PublicKey.from_public_bytes(public).verify(value, text.encode())
    except (InvalidSignature, ValueError):
        return ["signature: it does not fit the certificate"]
    fingerprint = "sha256:" + hashlib.sha256(public).hexdigest()
    if signed["algorithm"] != "Ed25519" or signed["fingerprint"] != fingerprint:
        return ["signature: its description is not true"]
    return [f"signature: made with another key, {fingerprint}"] if expected_key not in (None, fingerprint) else []


def der(data: bytes) -> list[bytes]:
    """The contents of the elements that stand there in a row."""
    found: list[bytes] = []
    while data:
        wide = data[1] & 127 if data[1] > 127 else 0
        end = 2 + wide + (int.from_bytes(data[2 : 2 + wide], "big") if wide else data[1])
        found, data = [*found, data[2 + wide : end]], data[end:]
    return found


def stamp(envelope: Any) -> list[str]:
    """Of the time stamp: TimeStampResp > SignedData > TSTInfo > messageImprint is the SHA-256 of the signature."""
    if "timestamp" not in envelope:
        return []
    status, token = der(der(base64.b64decode(envelope["timestamp"]["token"], validate=True))[0])[:2]
    packed = der(der(der(token)[1])[0])[2]
    kind, digest = der(der(der(der(der(packed)[1])[0])[0])[2])
    wanted = hashlib.sha256(base64.b64decode(envelope["signature"]["value"])).digest()
    good = der(status)[0] in (b"\0", b"\1") and der(kind)[0] == SHA256 and digest == wanted
    return [] if good else ["timestamp: refused, or made for another signature"]


def packing(files: dict[str, bytes], certificate: Any) -> list[str]:
    """The files of the package are those certified, and those that the package itself lists."""
    digests = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in files.items()}
    certified = certificate["archive"]["files"]
    faults = [f"{name}: not the file that was certified" for name in certified if digests.get(name) != certified[name]]
    listed = {one["path"]: one["hash"] for one in json.loads(files["datapackage.json"])["resources"]}
    names = sorted((set(listed) | set(digests)) - {"datapackage.json", "datapackage-digest.json"})
    wrong = [name for name in names if listed.get(name) != digests.get(name)]
    faults += [f"{name}: not the file that datapackage.json lists" for name in wrong]
    told = {"path": "datapackage.json", "hash": digests["datapackage.json"]}
    return faults + ["datapackage.json: not the one digested"] * (json.loads(files["datapackage-digest.json"]) != told)


def records(data: bytes) -> Iterator[tuple[dict[str, str], bytes, str]]:
    """Every record of a `.warc.gz`: (header fields, block, SHA-256 of all its bytes)."""
    while data:
        member = zlib.decompressobj(31)
        plain = member.decompress(data) + member.flush()
        data = member.unused_data
        head, _, rest = plain.partition(b"\r\n\r\n")
        lines = [line.partition(":") for line in head.decode("utf-8", "replace").split("\r\n")[1:]]
        fields = {name.lower(): value.strip() for name, _, value in reversed(lines)}  # of several the first counts
        block = rest[: int(fields["content-length"])]
        if rest[len(block) :] != b"\r\n\r\n":
            raise ValueError("a record does not end as it should")
        yield fields, block, hashlib.sha256(plain).hexdigest()


def archive(files: dict[str, bytes], certificate: Any) -> list[str]:
    """The records are those certified; each download's record is there, of its page, with its payload."""
    kept: dict[str, tuple[dict[str, str], bytes, str]] = {}
    faults = []
    for name in files:
        if name.startswith("archive/"):
            try:
                for fields, block, digest in records(files[name]):
                    kept[fields["warc-record-id"].strip("<>")] = fields, block, digest
            except (ValueError, KeyError, zlib.error) as problem:
                faults.append(f"{name}: cannot be read to its end ({problem})")
    lines = "".join(f"{name} {kept[name][2]}\n" for name in sorted(kept))
    told = certificate["archive"]
    if len(kept) != told["records"] or hashlib.sha256(lines.encode()).hexdigest() != told["sha256"]:
        faults.append("archive: the records are not those that were certified")
    downloads = [(page["url"], page[end]) for page in certificate["pages"] for end in ("visit", "revisit") if page[end]]
    altered = [(url, one["record"]) for url, one in downloads if not held(url, one, kept)]
    return faults + [f"{url}: its record {record} is missing or altered" for url, record in altered]


def held(url: str, download: Any, kept: dict[str, tuple[dict[str, str], bytes, str]]) -> bool:
    fields, block, digest = kept.get(download["record"], ({}, b"", ""))
    named, target = fields.get("warc-payload-digest"), fields.get("warc-target-uri", "").strip("<>")
    if (digest, target, named) != (download["record_sha256"], url, download["payload"]):
        return False
    if fields.get("warc-type") == "revisit":
        original = kept.get(fields.get("warc-refers-to", "").strip("<>"))
        return original is not None and original[0].get("warc-payload-digest") == named
    payload = block.partition(b"\r\n\r\n")[2] if "application/http" in fields.get("content-type", "") else block
    return named == "sha1:" + base64.b32encode(hashlib.sha1(payload).digest()).decode()


def verdicts(certificate: Any) -> list[str]:
    """Sharp is what the downloads show to be sharp; the counts are those of the verdicts."""
    pages, counts = certificate["pages"], certificate["counts"]
    found = {name: sum(page["verdict"] == name for page in pages) for name in ("sharp", "blurred", "unreachable")}
    faults = [f"counts: not {counts[name]} pages {name}" for name in found if counts[name] != found[name]]
    if counts["pages"] != len(pages) or len(pages) != sum(found.values()):
        faults.append("counts: the number of pages is not that of the list")
    wrong = [page for page in pages if page["verdict"] == "sharp" and not sharp(page, certificate["instant"])]
    return faults + [f"{page['url']}: not shown to be sharp" for page in wrong]


def sharp(page: Any, instant: Any) -> bool:
    visit, revisit = page["visit"], page["revisit"]
    if not instant or visit is None or when(instant["from"]) > when(instant["to"]):
        return False
    if revisit is None:
        return (visit["started"], visit["ended"]) == (instant["from"], instant["to"])
    same = (visit["content"], visit["status"]) == (revisit["content"], revisit["status"])
    return same and when(visit["ended"]) <= when(instant["from"]) and when(instant["to"]) <= when(revisit["started"])


if __name__ == "__main__":
    proved, wrong = check(*sys.argv[1:3]) if len(sys.argv) > 1 else sys.exit(__doc__)
    if proved is None or wrong:
        sys.exit("\n".join(wrong))
    print(f"holds: {proved['counts']['sharp']} pages sharp as of {proved['instant']}")
