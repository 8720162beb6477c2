"""Verifies the certificate of a Webstrata capture against its WACZ file. Needs Python and the package `cryptography`.

    python verify_capture.py CAPTURE.wacz [fingerprint of the required key]

It shares no code with Webstrata. It prints one line per fault and exits with 1, or prints what was proved and exits
with 0. A time stamp must belong to this signature; its authority is NOT checked (use `openssl ts -verify`).
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
    """Returns the certificate (None if it cannot be parsed) and the list of faults."""
    faults: list[str] = []
    try:
        with zipfile.ZipFile(path) as package, Path(path).open("rb") as raw:
            faults += layout(package, raw)
            files = {name: package.read(name) for name in package.namelist()}
        envelope = json.loads(files["proof/certificate.json"])
        certificate = envelope["certificate"]
        if (certificate["type"], certificate["version"]) != ("webstrata/capture", 1):
            return None, ["certificate: another type or version"]
        faults += signature(envelope, expected_key) + stamp(envelope)
        faults += packing(files, certificate) + archive(files, certificate) + verdicts(certificate)
        return certificate, faults
    except (LookupError, TypeError, AttributeError, struct.error, *UNREADABLE) as problem:
        return None, [*faults, f"package: missing or unreadable, or a field is invalid ({problem!r})"]


def layout(package: zipfile.ZipFile, raw: BinaryIO) -> list[str]:
    """Check that every byte of the ZIP structure is as one program writes it: nothing is hidden in it."""
    faults: list[str] = []
    at, listed, attributes, entries = 0, 0, set(), package.infolist()
    for entry in entries:
        raw.seek(entry.header_offset)
        local = struct.unpack("<4sHHHHHLLLHH", raw.read(30))
        name, extra, size = raw.read(local[9]), raw.read(local[10]), entry.file_size
        wide = extra == struct.pack("<HHQQ", 1, 16, size, size) and local[7] == local[8] == 0xFFFFFFFF
        sizes = entry.compress_size == size and (wide or (not extra and local[7] == local[8] == size))
        year, month, day, hour, minute, second = entry.date_time
        moment = hour << 11 | minute << 5 | second >> 1, (year - 1980) << 9 | month << 5 | day
        expected = (entry.flag_bits, entry.compress_type, *moment, entry.CRC, entry.orig_filename.encode())
        versions = {local[1], entry.create_version, entry.extract_version + 256 * entry.reserved} <= {20, 45}
        plain = versions and entry.volume == 0 and (not entry.extra or max(size, entry.header_offset) >= 0xFFFFFFFF)
        raw.seek(package.start_dir + listed + 28)
        plain = plain and sizes and expected == (*local[2:7], name)
        plain = plain and struct.unpack("<HHH", raw.read(6)) == (len(name), len(entry.extra), 0)
        if entry.header_offset != at or local[0] != b"PK\3\4" or not plain:
            faults.append(f"package: the ZIP header of {name!r} was altered")
        attributes.add((entry.create_system, entry.internal_attr, entry.external_attr))
        at, listed = at + 30 + len(name) + len(extra) + size, listed + 46 + len(name) + len(entry.extra)
    length = raw.seek(0, 2)
    raw.seek(length - 22)
    magic, disk, first, here, total, size, offset, comment = struct.unpack("<4sHHHHLLH", raw.read(22))
    sound = magic == b"PK\5\6" and disk == first == comment == 0 and at == package.start_dir and len(attributes) == 1
    if offset < 0xFFFFFFFF and total < 0xFFFF:
        sound = sound and here == total == len(entries) and (offset, size) == (at, listed) and at + size + 22 == length
    return faults if sound else [*faults, "package: the ZIP directory was altered"]


def signature(envelope: Any, expected_key: str | None) -> list[str]:
    signed = envelope["signature"]
    text = json.dumps(envelope["certificate"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        public, value = (base64.b64decode(signed[name], validate=True) for name in ("public_key", "value"))
        Ed25519PublicKey.from_public_bytes(public).verify(value, text.encode())
    except (InvalidSignature, ValueError):
        return ["signature: it does not match the certificate"]
    fingerprint = "sha256:" + hashlib.sha256(public).hexdigest()
    if signed["algorithm"] != "Ed25519" or signed["fingerprint"] != fingerprint:
        return ["signature: its algorithm or fingerprint is wrong"]
    return [f"signature: made with another key, {fingerprint}"] if expected_key not in (None, fingerprint) else []


def der(data: bytes) -> list[bytes]:
    """The contents of consecutive DER elements."""
    contents: list[bytes] = []
    while data:
        wide = data[1] & 127 if data[1] > 127 else 0
        end = 2 + wide + (int.from_bytes(data[2 : 2 + wide], "big") if wide else data[1])
        contents, data = [*contents, data[2 + wide : end]], data[end:]
    return contents


def stamp(envelope: Any) -> list[str]:
    """Check that TimeStampResp > SignedData > TSTInfo > messageImprint is the SHA-256 of the signature."""
    if "timestamp" not in envelope:
        return []
    status, token = der(der(base64.b64decode(envelope["timestamp"]["token"], validate=True))[0])[:2]
    packed = der(der(der(token)[1])[0])[2]
    kind, digest = der(der(der(der(der(packed)[1])[0])[0])[2])
    expected = hashlib.sha256(base64.b64decode(envelope["signature"]["value"])).digest()
    good = der(status)[0] in (b"\0", b"\1") and der(kind)[0] == SHA256 and digest == expected
    return [] if good else ["timestamp: refused, or made for another signature"]


def packing(files: dict[str, bytes], certificate: Any) -> list[str]:
    """Check that the files of the package are the certified ones, and those that datapackage.json lists."""
    digests = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in files.items()}
    certified = certificate["archive"]["files"]
    faults = [f"{name}: not the certified file" for name in certified if digests.get(name) != certified[name]]
    listed = {one["path"]: one["hash"] for one in json.loads(files["datapackage.json"])["resources"]}
    names = sorted((set(listed) | set(digests)) - {"datapackage.json", "datapackage-digest.json"})
    faults += [f"{n}: not the file that datapackage.json lists" for n in names if listed.get(n) != digests.get(n)]
    expected = {"path": "datapackage.json", "hash": digests["datapackage.json"]}
    digest_wrong = json.loads(files["datapackage-digest.json"]) != expected
    return [*faults, "datapackage.json: its digest is wrong"] if digest_wrong else faults


def records(data: bytes) -> Iterator[tuple[dict[str, str], bytes, str]]:
    """The records of a `.warc.gz` file: (header fields, block, SHA-256 of all bytes)."""
    while data:
        member = zlib.decompressobj(31)
        plain = member.decompress(data) + member.flush()
        data = member.unused_data
        head, _, rest = plain.partition(b"\r\n\r\n")
        lines = [line.partition(":") for line in head.decode("utf-8", "replace").split("\r\n")[1:]]
        fields = {name.lower(): value.strip() for name, _, value in reversed(lines)}  # the first of equal names counts
        block = rest[: int(fields["content-length"])]
        if rest[len(block) :] != b"\r\n\r\n":
            raise ValueError("a record has no valid end")
        yield fields, block, hashlib.sha256(plain).hexdigest()


def archive(files: dict[str, bytes], certificate: Any) -> list[str]:
    """Check that the records are the certified ones, and that each download has its record, URL and payload."""
    kept: dict[str, tuple[dict[str, str], bytes, str]] = {}
    faults = []
    for name in files:
        if name.startswith("archive/"):
            try:
                for fields, block, digest in records(files[name]):
                    kept[fields["warc-record-id"].strip("<>")] = fields, block, digest
            except (ValueError, KeyError, zlib.error) as problem:
                faults.append(f"{name}: cannot be parsed completely ({problem})")
    lines = "".join(f"{name} {kept[name][2]}\n" for name in sorted(kept))
    certified = certificate["archive"]
    if len(kept) != certified["records"] or hashlib.sha256(lines.encode()).hexdigest() != certified["sha256"]:
        faults.append("archive: the records are not the certified ones")
    downloads = [(page["url"], page[end]) for page in certificate["pages"] for end in ("visit", "revisit") if page[end]]
    altered = [(url, download["record"]) for url, download in downloads if not matches(url, download, kept)]
    return faults + [f"{url}: its record {record} is missing or altered" for url, record in altered]


def matches(url: str, download: Any, kept: dict[str, tuple[dict[str, str], bytes, str]]) -> bool:
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
    """Check that sharp pages have the downloads that prove it, and that the counts match the verdicts."""
    pages, counts = certificate["pages"], certificate["counts"]
    found = {name: sum(page["verdict"] == name for page in pages) for name in ("sharp", "blurred", "unreachable")}
    faults = [f"counts: not {counts[name]} pages {name}" for name in found if counts[name] != found[name]]
    if counts["pages"] != len(pages) or len(pages) != sum(found.values()):
        faults.append("counts: the number of pages is not the length of the list")
    false = [page["url"] for page in pages if page["verdict"] == "sharp" and not sharp(page, certificate["instant"])]
    return faults + [f"{url}: not proved to be sharp" for url in false]


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
    print(f"valid: {proved['counts']['sharp']} pages sharp as of {proved['instant']}")
