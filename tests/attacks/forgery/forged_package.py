"""A package that an attack edits: records, index, page lists, certificate and ZIP bytes, packed again at some depth."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import zlib
from enum import IntEnum
from typing import Any
from zipfile import ZipFile, ZipInfo

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from tests.attacks.forgery.honest_capture import HonestCapture
from webstrata.urls import surt

WARC, INDEX, IDX = "archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx"
CERTIFICATE, PACKAGE, DIGEST = "proof/certificate.json", "datapackage.json", "datapackage-digest.json"
OTHER_KEY = ec.generate_private_key(ec.SECP384R1())


class Depth(IntEnum):
    """How much of the package is made consistent with the forgery."""

    BYTES = 0
    """Nothing: only the ZIP file is a valid one again."""
    DIGESTS = 1
    """Also the digests in datapackage.json, which needs no key."""
    OTHER_KEY = 2
    """Also the certificate's digests of files and records, and a signature with another key."""
    SIGNER = 3
    """The same with the real key: a dishonest signer, or a stolen key."""


class ForgedRecord:
    """A WARC record that can be edited."""

    def __init__(self, plain: bytes) -> None:
        head, _, rest = plain.partition(b"\r\n\r\n")
        self.fields = [
            (name, value.strip()) for name, _, value in (one.partition(":") for one in head.decode().split("\r\n")[1:])
        ]
        self.block = rest[: int(self["Content-Length"])]
        self.end = b"\r\n\r\n"
        self.length: int | None = None
        """The Content-Length if it is a lie."""

    def __getitem__(self, name: str) -> str:
        return next((value for known, value in self.fields if known == name), "")

    def __setitem__(self, name: str, value: str) -> None:
        self.fields = [(known, value if known == name else old) for known, old in self.fields]

    @property
    def id(self) -> str:
        return self["WARC-Record-ID"].strip("<>")

    @property
    def head(self) -> bytes:
        return self.block.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        return self.block.partition(b"\r\n\r\n")[2]

    def replace(self, old: bytes, new: bytes) -> None:
        """Alter the block, and the digests that cover it."""
        assert old in self.block
        self.block = self.block.replace(old, new)
        self.redigest()

    def redigest(self) -> None:
        for field, content in (("WARC-Block-Digest", self.block), ("WARC-Payload-Digest", self.body)):
            if field == "WARC-Block-Digest" or self["WARC-Type"] == "response":
                self[field] = "sha1:" + base64.b32encode(hashlib.sha1(content).digest()).decode()

    def plain(self) -> bytes:
        self["Content-Length"] = str(len(self.block) if self.length is None else self.length)
        head = "".join(f"{name}: {value}\r\n" for name, value in self.fields)
        return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + self.block + self.end


class ForgedPackage:
    """All parts of the honest package, to be edited in place."""

    def __init__(self, honest: HonestCapture) -> None:
        self.honest = honest
        self.whole = honest.file.read_bytes()
        with ZipFile(honest.file) as package:
            self.files = {name: package.read(name) for name in package.namelist()}
            self.date = package.infolist()[0].date_time
        self.certificate: Any = json.loads(self.files[CERTIFICATE])
        self.package: Any = json.loads(self.files[PACKAGE])
        self.digest: Any = json.loads(self.files[DIGEST])
        self.records = [ForgedRecord(plain) for plain in gzip_members(self.files[WARC])]

    # ── parts ────────────────────────────────────────────────────────────────────────────────────────────────

    def url(self, path: str) -> str:
        return f"{self.honest.site}/{path}"

    def page(self, path: str) -> Any:
        """The certificate's entry of a page or requisite."""
        entries = [*self.certificate["pages"], *self.certificate["requisites"]]
        return next(entry for entry in entries if entry["url"] == self.url(path))

    def record(self, path: str, nth: int = 0) -> ForgedRecord:
        """The record of an observation of a page."""
        return self.by_id(self.page(path)["observations"][nth]["record"])

    def by_id(self, name: str) -> ForgedRecord:
        return next(record for record in self.records if record.id == name)

    def remove_record(self, record: ForgedRecord) -> None:
        """Remove a record and its request."""
        gone = (record.id, record["WARC-Record-ID"])
        self.records = [one for one in self.records if one.id != gone[0] and one["WARC-Concurrent-To"] != gone[1]]

    def lines(self) -> list[str]:
        """The lines of the index."""
        return b"".join(gzip_members(self.files[INDEX])).decode().splitlines()

    def set_lines(self, lines: list[str]) -> None:
        """Replace the index, and the file that leads to its parts."""
        member = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
        place = json.dumps({"offset": 0, "length": len(member)})
        self.files[INDEX] = member
        about = self.files[IDX].decode().splitlines()[0]
        self.files[IDX] = f"{about}\n{lines[0].partition(' {')[0]} {place}\n".encode()

    def rebuild(self) -> None:
        """Write the WARC file, its index and the digests of records anew from the edited records."""
        data, lines = b"", []
        for record in self.records:
            member = gzip.compress(record.plain(), mtime=0)
            if record["WARC-Type"] in ("response", "revisit"):
                lines.append(index_line(record, len(data), len(member)))
            data += member
        self.files[WARC] = data
        self.set_lines(sorted(lines, key=lambda line: line.partition(" {")[0]))
        self.state_records()

    def state_records(self) -> None:
        """Let the certificate name the records that are there."""
        pairs = sorted(f"{record.id} {hashlib.sha256(record.plain()).hexdigest()}\n" for record in self.records)
        self.certificate["archive"]["records"] = len(pairs)
        self.certificate["archive"]["sha256"] = hashlib.sha256("".join(pairs).encode()).hexdigest()

    def recount(self) -> None:
        """Let the counts agree with the verdicts."""
        counts, pages = self.certificate["counts"], self.certificate["pages"]
        for name in ("sharp", "blurred", "absent", "error", "unreachable", "unvisited"):
            counts[name] = sum(page["verdict"] == name for page in pages)
        counts |= {"pages": len(pages), "requisites": len(self.certificate["requisites"])}

    # ── packing ──────────────────────────────────────────────────────────────────────────────────────────────

    def pack(self, depth: Depth) -> bytes:
        """The ZIP file, with everything below the depth made consistent."""
        self.repair(depth)
        return self.zipped()

    def repair(self, depth: Depth) -> None:
        if depth >= Depth.OTHER_KEY:
            named = {
                name: digest_of(data) for name, data in self.files.items() if name not in (CERTIFICATE, PACKAGE, DIGEST)
            }
            self.certificate["archive"]["files"] = named
            text = json.dumps(self.certificate, sort_keys=True, indent=1, ensure_ascii=False)
            self.files[CERTIFICATE] = text.encode()
        if depth >= Depth.DIGESTS:
            listed = [name for name in self.files if name not in (PACKAGE, DIGEST)]
            self.package["resources"] = [
                {
                    "name": name.rpartition("/")[2],
                    "path": name,
                    "hash": digest_of(self.files[name]),
                    "bytes": len(self.files[name]),
                }
                for name in listed
            ]
            self.files[PACKAGE] = json.dumps(self.package, indent=2).encode()
            self.digest["hash"] = digest_of(self.files[PACKAGE])
        if depth >= Depth.OTHER_KEY:
            self.sign(OTHER_KEY if depth == Depth.OTHER_KEY else None)
        if depth >= Depth.DIGESTS:
            self.files[DIGEST] = json.dumps(self.digest, indent=2).encode()

    def sign(self, key: ec.EllipticCurvePrivateKey | None) -> None:
        """Sign the digest of datapackage.json; without a key, with the real one."""
        if key is None:
            loaded = load_pem_private_key(self.honest.key, None)
            assert isinstance(loaded, ec.EllipticCurvePrivateKey)
            key = loaded
        numbers = decode_dss_signature(key.sign(self.digest["hash"].encode(), ec.ECDSA(SHA256())))
        signature = b"".join(number.to_bytes(48, "big") for number in numbers)
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.digest["signedData"] |= {
            "hash": self.digest["hash"],
            "signature": base64.b64encode(signature).decode(),
            "publicKey": base64.b64encode(public).decode(),
            "created": self.package["created"],
            "software": self.package["software"],
        }

    def zipped(self, **options: Any) -> bytes:
        """The files as the product writes them into a ZIP file."""
        out = io.BytesIO()
        with ZipFile(out, "w", **options) as package:
            for name, data in self.files.items():
                entry = ZipInfo(name, self.date)
                entry.compress_type = package.compression
                with package.open(entry, "w", force_zip64=name not in (PACKAGE, DIGEST)) as file:
                    file.write(data)
        return out.getvalue()


def gzip_members(data: bytes) -> list[bytes]:
    members = []
    while data:
        member = zlib.decompressobj(31)
        members.append(member.decompress(data))
        data = member.unused_data
    return members


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def index_line(record: ForgedRecord, offset: int, length: int) -> str:
    """The CDXJ line of a record."""
    heads = dict(line.split(": ", 1) for line in record.head.decode().split("\r\n")[1:])
    mime = "warc/revisit" if record["WARC-Type"] == "revisit" else heads.get("Content-Type", "").partition(";")[0]
    fields = {
        "url": record["WARC-Target-URI"],
        "mime": mime,
        "status": record.head.split(b" ", 2)[1].decode(),
        "digest": record["WARC-Payload-Digest"],
        "length": str(length),
        "offset": str(offset),
        "filename": "data.warc.gz",
        "truncated": record["WARC-Truncated"] if record["WARC-Type"] == "response" else "",
    }
    stamp = "".join(letter for letter in record["WARC-Date"] if letter.isdigit())[:14]
    return f"{surt(fields['url'])} {stamp} {json.dumps({name: value for name, value in fields.items() if value})}"
