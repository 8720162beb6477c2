"""Attacks on the signature, the signer's identity and the time stamp."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

from tests.attacks.forgery.attack_list import attack
from tests.attacks.forgery.forged_package import DIGEST, OTHER_KEY, Depth, ForgedPackage
from webstrata.verifier.verify_capture import scanned

SIGNATURE = "signature|signed|key|hash|digest|match"


def _self_signed(domain: str) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, domain)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(OTHER_KEY.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=3))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(domain)]), critical=False)
        .sign(OTHER_KEY, SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


def _as_domain(forged: ForgedPackage, domain: str, chain: str) -> bytes:
    """Sign as a domain with the other key."""
    forged.repair(Depth.OTHER_KEY)
    signed = forged.digest["signedData"]
    del signed["publicKey"]
    value = OTHER_KEY.sign(signed["hash"].encode(), ec.ECDSA(SHA256()))
    signed |= {"signature": base64.b64encode(value).decode(), "domain": domain, "domainCert": chain}
    forged.repair(Depth.DIGESTS)
    return forged.zipped()


@attack(expected="exposed")
def signed_again(forged: ForgedPackage) -> bytes:
    """The package is unchanged and signed with another key."""
    return forged.pack(Depth.OTHER_KEY)


@attack(expected="exposed")
def altered_and_signed_again(forged: ForgedPackage) -> bytes:
    """The words of a page are replaced, all digests and layers computed again, and signed with another key."""
    for seen in forged.page("steady")["observations"]:
        record = forged.by_id(seen["record"])
        if record["WARC-Type"] == "response":
            record.replace(b"words of a page", b"other words now")
    payload = forged.record("steady")["WARC-Payload-Digest"]
    body = forged.record("steady").body
    for seen in forged.page("steady")["observations"]:
        record = forged.by_id(seen["record"])
        record["WARC-Payload-Digest"] = seen["payload"] = payload
        seen["layers"] |= scanned(body)[0] | {"raw": hashlib.sha256(body).hexdigest()}
        seen["layers"].pop("main", None)
    forged.page("steady")["equal"].pop("main", None)
    forged.certificate["counts"]["sharp_by"]["main"] = forged.certificate["counts"]["sharp_by"]["visible"]
    for name in [name for name in forged.files if name.startswith("pages/")]:
        lines = forged.files[name].splitlines(keepends=True)
        old, new = b"words of a page", b"other words now"
        forged.files[name] = b"".join(line.replace(old, new) if b"/steady" in line else line for line in lines)
    forged.rebuild()
    return forged.pack(Depth.OTHER_KEY)


@attack(expected="exposed")
def page_left_out_and_signed_again(forged: ForgedPackage) -> bytes:
    """A blurred page is left out with its records, index lines and counts, and signed with another key."""
    page = forged.page("changing")
    for seen in page["observations"]:
        forged.remove_record(forged.by_id(seen["record"]))
    forged.certificate["pages"].remove(page)
    chances = [Decimal(one["expected"]) for one in forged.certificate["pages"]]
    forged.certificate["counts"]["expected_sharp"] = str(sum(chances, Decimal(0)).normalize())
    for name in [name for name in forged.files if name.startswith("pages/")]:
        lines = forged.files[name].splitlines(keepends=True)
        forged.files[name] = b"".join(line for line in lines if b"/changing" not in line)
    forged.recount()
    forged.rebuild()
    return forged.pack(Depth.OTHER_KEY)


@attack(expected="exposed")
def all_times_moved_by_a_year(forged: ForgedPackage) -> bytes:
    """All times of records, index, page lists and certificate are moved by a year, and signed with another key."""
    year = forged.certificate["issued"][:5]
    other = f"{int(year[:4]) - 1}-"
    for record in forged.records:
        for name in ("WARC-Date", "WARC-Refers-To-Date", "WARC-Visit-Date"):
            record[name] = record[name].replace(year, other)
    for part in ("certificate", "package"):
        text = json.dumps(getattr(forged, part))
        setattr(forged, part, json.loads(text.replace(f'"{year}', f'"{other}')))
    for name in [name for name in forged.files if name.startswith("pages/")]:
        forged.files[name] = forged.files[name].replace(year.encode(), other.encode())
    forged.rebuild()
    return forged.pack(Depth.OTHER_KEY)


@attack("no signature|missing|signedData|not signed")
def removed_signature(forged: ForgedPackage) -> bytes:
    """`signedData` is removed."""
    del forged.digest["signedData"]
    return forged.pack(Depth.DIGESTS)


@attack(SIGNATURE)
def repaired_digests(forged: ForgedPackage) -> bytes:
    """The title is changed and all digests are repaired, but not the signature."""
    forged.package["title"] = "Another title"
    return forged.pack(Depth.DIGESTS)


@attack(SIGNATURE)
def signature_of_another_package(forged: ForgedPackage) -> bytes:
    """The signature is a valid one of the same signer, for another package."""
    other = ForgedPackage(forged.honest)
    other.package["title"] = "Another package"
    other.repair(Depth.SIGNER)
    forged.digest["signedData"] = other.digest["signedData"]
    forged.repair(Depth.DIGESTS)
    return forged.zipped()


@attack(SIGNATURE)
def replaced_key(forged: ForgedPackage) -> bytes:
    """The public key is another one than that of the signature."""
    public = OTHER_KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    forged.digest["signedData"]["publicKey"] = base64.b64encode(public).decode()
    return forged.pack(Depth.DIGESTS)


@attack(SIGNATURE)
def key_of_another_curve(forged: ForgedPackage) -> bytes:
    """The signature is made with a key of the curve P-256, and padded."""
    weak = ec.generate_private_key(ec.SECP256R1())
    forged.repair(Depth.OTHER_KEY)
    public = weak.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    forged.digest["signedData"] |= {"publicKey": base64.b64encode(public).decode()}
    forged.repair(Depth.DIGESTS)
    return forged.zipped()


@attack(SIGNATURE)
def empty_signature(forged: ForgedPackage) -> bytes:
    """The signature consists of zeros."""
    forged.digest["signedData"]["signature"] = base64.b64encode(bytes(96)).decode()
    return forged.pack(Depth.DIGESTS)


@attack(SIGNATURE)
def weak_hashes(forged: ForgedPackage) -> Iterator[bytes]:
    """The digest of datapackage.json is an MD5 or SHA-1 digest, signed with the real key."""
    for name in ("md5", "sha1"):
        other = ForgedPackage(forged.honest)
        value = f"{name}:{hashlib.new(name, other.files['datapackage.json']).hexdigest()}"
        other.digest["hash"] = value
        other.sign(None)
        other.repair(Depth.BYTES)
        other.files[DIGEST] = json.dumps(other.digest).encode()
        yield other.zipped()


@attack("time|created|program|software|signature|signed")
def backdated_signature(forged: ForgedPackage) -> bytes:
    """The time in `signedData`, which no signature covers, is moved to 2019."""
    forged.digest["signedData"]["created"] = "2019-01-01T00:00:00Z"
    return forged.pack(Depth.DIGESTS)


@attack("domain|certificate|signature")
def replaced_domain(forged: ForgedPackage) -> bytes:
    """The domain's name is replaced; the certificate is of another domain."""
    return _as_domain(forged, "archive.org", _self_signed("example.net"))


@attack("domain|certificate|chain|signature|key")
def certificate_of_another_key(forged: ForgedPackage) -> bytes:
    """The domain's certificate is a right one of another key, followed by a chain that does not belong to it."""
    key = ec.generate_private_key(ec.SECP384R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.org")])
    now = datetime.now(UTC)
    real = (
        x509.CertificateBuilder(name, name, key.public_key(), 7, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.org")]), critical=False)
        .sign(key, SHA256())
    )
    return _as_domain(forged, "example.org", real.public_bytes(Encoding.PEM).decode() + _self_signed("example.net"))


@attack("domain|certificate|chain")
def certificate_issued_by_nobody(forged: ForgedPackage) -> bytes:
    """The certificate is of the domain and the key, but the next one of the chain did not issue it."""
    return _as_domain(forged, "example.org", _self_signed("example.org") + _self_signed("example.net"))


@attack("stamp|malformed|time")
def time_stamp_of_another_signature(forged: ForgedPackage) -> Iterator[bytes]:
    """A time stamp is added that is of another signature, a refusal, or no time stamp at all."""
    signed = copy.deepcopy(forged.digest["signedData"])
    for stamp in (_stamp(hashlib.sha256(b"another signature").digest()), _refusal(), b"no time stamp"):
        forged.digest["signedData"] = signed | {"timeSignature": base64.b64encode(stamp).decode(), "timestampCert": ""}
        yield forged.pack(Depth.DIGESTS)


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = bytes([len(content)]) if len(content) < 128 else b"\x82" + len(content).to_bytes(2, "big")
    return bytes([tag]) + size + content


def _refusal() -> bytes:
    return _der(0x30, _der(0x30, _der(2, b"\2")))


def _stamp(imprint: bytes) -> bytes:
    """A response with a time stamp that nobody signed."""
    sha256 = _der(0x30, _der(6, bytes.fromhex("608648016503040201")))
    policy, now = _der(6, b"\x2a\x03"), datetime.now(UTC).strftime("%Y%m%d%H%M%SZ").encode()
    info = _der(0x30, _der(2, b"\1"), policy, _der(0x30, sha256, _der(4, imprint)), _der(2, b"\1"), _der(0x18, now))
    content = _der(0x30, _der(6, bytes.fromhex("2a864886f70d0109100104")), _der(0xA0, _der(4, info)))
    signed = _der(0x30, _der(2, b"\3"), _der(0x31, sha256), content, _der(0x31))
    token = _der(0x30, _der(6, bytes.fromhex("2a864886f70d010702")), _der(0xA0, signed))
    return _der(0x30, _der(0x30, _der(2, b"\0")), token)


@attack("title|main page")
def other_title(forged: ForgedPackage) -> bytes:
    """The title in datapackage.json, which readers see first, is another than the certificate's."""
    forged.package["title"] = "A forged title"
    return forged.pack(Depth.SIGNER)


@attack("title|main page")
def other_main_page(forged: ForgedPackage) -> bytes:
    """`mainPageUrl` in datapackage.json, which is opened first, is another than the certificate's."""
    forged.package["mainPageUrl"] = forged.url("other")
    return forged.pack(Depth.SIGNER)
