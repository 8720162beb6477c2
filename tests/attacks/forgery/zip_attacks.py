"""Attacks on the bytes of the file and the structure of the ZIP file."""

from __future__ import annotations

import io
import random
import struct
import warnings
from collections.abc import Iterator
from itertools import pairwise
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tests.attacks.forgery.attack_list import attack
from tests.attacks.forgery.forged_package import CERTIFICATE, DIGEST, PACKAGE, WARC, Depth, ForgedPackage

ALTERED = "altered|ZIP|header|directory|structure|end|entry|layout"


def _directory(data: bytes) -> list[int]:
    """The offsets of the entries of the directory."""
    at, entries = struct.unpack("<L", data[-6:-2])[0], []
    while data[at : at + 4] == b"PK\1\2":
        entries.append(at)
        at += 46 + sum(struct.unpack("<3H", data[at + 28 : at + 34]))
    return entries


def _patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


@attack("")
def flipped_bits(forged: ForgedPackage) -> Iterator[bytes]:
    """One bit is flipped, at random offsets of every local header and file, of the directory and of the end."""
    data, dice = forged.whole, random.Random(1)
    entries = _directory(data)
    starts = [struct.unpack("<L", data[at + 42 : at + 46])[0] for at in entries]
    borders = [*starts, *(start + 50 for start in starts), *entries, len(data) - 22, len(data)]
    borders.sort()
    for low, high in pairwise(borders):
        for offset in dice.sample(range(low, high), min(2, high - low)):
            yield _patched(data, offset, bytes([data[offset] ^ 1 << dice.randrange(8)]))


@attack("directory|end|ZIP|cannot")
def truncated_file(forged: ForgedPackage) -> bytes:
    """The last bytes of the file are cut off."""
    return forged.whole[:-10]


@attack("prefix|altered|directory|ZIP|begin|before")
def prefix_bytes(forged: ForgedPackage) -> bytes:
    """A script stands before the ZIP file, which most programs then still open."""
    return b"#!/bin/sh\necho hello\n" + forged.whole


@attack("end|directory|after|trailing|ZIP")
def trailing_bytes(forged: ForgedPackage) -> bytes:
    """Bytes follow the ZIP file."""
    return forged.whole + bytes(40)


@attack("comment|end|directory|ZIP")
def comment(forged: ForgedPackage) -> bytes:
    """The ZIP file gets a comment."""
    return forged.whole[:-2] + struct.pack("<H", 5) + b"hello"


@attack(f"same name|two|twice|{ALTERED}")
def two_files_with_one_name(forged: ForgedPackage) -> bytes:
    """A second certificate stands under the same name: programs differ in which one they read."""
    forged.certificate["counts"]["sharp"] += 1
    out = io.BytesIO(forged.zipped())
    with warnings.catch_warnings(action="ignore"), ZipFile(out, "a") as package:
        package.writestr(ZipInfo(CERTIFICATE, forged.date), b"{}")
    return out.getvalue()


@attack(f"stored|deflate|compress|{ALTERED}")
def deflated_records(forged: ForgedPackage) -> bytes:
    """The WARC file is deflated: its records cannot be read by offset."""
    forged.repair(Depth.SIGNER)
    return forged.zipped(compression=ZIP_DEFLATED)


@attack(f"large|limit|stored|compress|{ALTERED}")
def zip_bomb(forged: ForgedPackage) -> bytes:
    """A page list of 200 MB of zeros is deflated to 200 kB."""
    forged.files["pages/extraPages.jsonl"] = bytes(200_000_000)
    forged.package["resources"].append({"path": "pages/extraPages.jsonl", "hash": "sha256:0", "bytes": 200_000_000})
    return forged.zipped(compression=ZIP_DEFLATED)


@attack(f"overlap|{ALTERED}")
def overlapping_entries(forged: ForgedPackage) -> bytes:
    """The directory's entry of one file leads to the local header of another."""
    entries = _directory(forged.whole)
    return _patched(forged.whole, entries[1] + 42, forged.whole[entries[0] + 42 : entries[0] + 46])


@attack(ALTERED)
def other_name_in_local_header(forged: ForgedPackage) -> bytes:
    """The local header of the certificate has another name than the directory."""
    at = forged.whole.index(CERTIFICATE.encode())
    return _patched(forged.whole, at, b"proof/Xertificate.json")


@attack(ALTERED)
def other_size_in_directory(forged: ForgedPackage) -> bytes:
    """The directory says that the last file is one byte shorter."""
    at = _directory(forged.whole)[-1]
    size = struct.unpack("<L", forged.whole[at + 24 : at + 28])[0] - 1
    return _patched(forged.whole, at + 20, struct.pack("<2L", size, size))


@attack(f"encrypt|flag|{ALTERED}")
def encrypted_flag(forged: ForgedPackage) -> bytes:
    """A file is marked as encrypted, in the directory and in the local header."""
    at = _directory(forged.whole)[0]
    return _patched(_patched(forged.whole, at + 8, b"\1"), 6, b"\1")


@attack(f"link|attribute|{ALTERED}")
def symbolic_link(forged: ForgedPackage) -> bytes:
    """All files are marked as symbolic links, so that unpacking writes elsewhere."""
    data = forged.whole
    for at in _directory(data):
        data = _patched(data, at + 38, struct.pack("<L", 0o120777 << 16))
    return data


@attack(f"zip64|{ALTERED}")
def zip64_lies(forged: ForgedPackage) -> bytes:
    """A ZIP64 end record states another directory than the end record."""
    data = forged.whole
    end = len(data) - 22
    count, size, at = struct.unpack("<HLL", data[end + 10 : end + 20])
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, at - 1)
    return data[:end] + wide + struct.pack("<4sLQL", b"PK\6\7", 0, end, 1) + data[end:]


@attack(f"extra|{ALTERED}")
def smuggled_extra_field(forged: ForgedPackage) -> bytes:
    """The directory's entry of the last file has an extra field with text."""
    data, at = forged.whole, _directory(forged.whole)[-1]
    extra = struct.pack("<2H", 0x7777, 6) + b"hidden"
    name = struct.unpack("<H", data[at + 28 : at + 30])[0]
    data = _patched(data, at + 30, struct.pack("<H", len(extra)))
    data = data[: at + 46 + name] + extra + data[at + 46 + name :]
    size = struct.unpack("<L", data[-10:-6])[0] + len(extra)
    return data[:-10] + struct.pack("<L", size) + data[-6:]


@attack(f"descriptor|flag|{ALTERED}")
def data_descriptor(forged: ForgedPackage) -> bytes:
    """Sizes stand behind the files (a data descriptor), where 16 further bytes can be hidden."""

    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise AttributeError

    out = Unseekable()
    with ZipFile(out, "w") as package:
        for name, data in forged.files.items():
            package.writestr(ZipInfo(name, forged.date), data)
    return out.getvalue()


@attack(f"listed|not list|{ALTERED}")
def unlisted_file(forged: ForgedPackage) -> bytes:
    """A file is added that nothing names."""
    forged.files["archive/more.warc.gz"] = forged.files[WARC]
    return forged.zipped()


@attack(f"listed|name|no such file|allowed|{ALTERED}")
def names_that_differ_in_case(forged: ForgedPackage) -> Iterator[bytes]:
    """A second page list has the same name in capitals, in another Unicode form, or in another folder."""
    for name in ("pages/PAGES.jsonl", "pages/pages.jsonl\u0301", "./pages/pages.jsonl", "pages//pages.jsonl"):
        other = ForgedPackage(forged.honest)
        other.files[name] = other.files["pages/pages.jsonl"]
        yield other.pack(Depth.SIGNER)


@attack("missing|no .*index|cannot|not in the|index")
def missing_index(forged: ForgedPackage) -> bytes:
    """The index and the file that leads to it are left out, by a signer with the real key."""
    del forged.files["indexes/index.cdx.gz"], forged.files["indexes/index.idx"]
    return forged.pack(Depth.SIGNER)


@attack("cannot|certificate|JSON|twice|repeated|duplicate")
def repeated_json_names(forged: ForgedPackage) -> bytes:
    """The certificate has `counts` twice: programs differ in which one they read."""
    forged.repair(Depth.SIGNER)
    text = forged.files[CERTIFICATE].decode()
    forged.files[CERTIFICATE] = text.replace('{\n "archive"', '{\n "counts": {"sharp": 99},\n "archive"', 1).encode()
    resource = next(one for one in forged.package["resources"] if one["path"] == CERTIFICATE)
    assert len(forged.files[CERTIFICATE]) > resource["bytes"]
    forged.certificate = None
    forged.repair(Depth.DIGESTS)
    forged.sign(None)
    forged.repair(Depth.DIGESTS)
    return forged.zipped()


@attack("digest|size|altered|not the file|does not match")
def altered_certificate_only(forged: ForgedPackage) -> bytes:
    """The certificate is replaced; datapackage.json still names the old one."""
    forged.files[CERTIFICATE] = forged.files[CERTIFICATE].replace(b': "blurred"', b': "sharp"')
    return forged.zipped()


@attack("digest|does not match|signature")
def altered_datapackage_only(forged: ForgedPackage) -> bytes:
    """Only datapackage.json is replaced."""
    forged.files[PACKAGE] = forged.files[PACKAGE].replace(b"captured", b"Captured")
    assert forged.files[DIGEST]
    return forged.zipped()
