"""Signatures of WACZ files, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.conformance.runner import EXTRACT
from webstrata.archive.sightings import sightings
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.signature import signature_faults
from webstrata.errors import ArchiveError

GOOD = EXTRACT / "wacz" / "files" / "valid_example_1.wacz"
HASH = "sha256:" + hashlib.sha256(b"{}").hexdigest()
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DOMAIN = "archive.example.org"


def _anonymous(key: ec.EllipticCurvePrivateKey, *, raw: bool, digest: str = HASH) -> dict[str, Any]:
    signature = key.sign(digest.encode(), ec.ECDSA(SHA256()))
    if raw:
        half = (key.key_size + 7) // 8
        signature = b"".join(number.to_bytes(half, "big") for number in decode_dss_signature(signature))
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    signed = {"hash": digest, "signature": _text(signature), "publicKey": _text(public)}
    return {"path": "datapackage.json", "hash": digest, "signedData": signed}


def _domain(*, domain: str = DOMAIN, created: datetime = BEGIN + timedelta(days=1)) -> dict[str, Any]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, DOMAIN)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(BEGIN)
        .not_valid_after(BEGIN + timedelta(days=90))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(DOMAIN)]), critical=False)
        .sign(key, SHA256())
    )
    about = _anonymous(key, raw=False)
    about["signedData"] |= {
        "domain": domain,
        "domainCert": certificate.public_bytes(Encoding.PEM).decode(),
        "created": created.isoformat(),
    }
    return about


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1()], ids=lambda curve: curve.name)
@pytest.mark.parametrize("raw", [True, False])
def test_anonymous_signature(curve: ec.EllipticCurve, raw: bool) -> None:
    """A signature in the form of browsers or of servers is valid, and is not after a change of one bit."""
    about = _anonymous(ec.generate_private_key(curve), raw=raw)
    assert signature_faults(about) == []

    signature = bytearray(base64.b64decode(about["signedData"]["signature"]))
    signature[-1] ^= 1
    about["signedData"]["signature"] = _text(bytes(signature))
    assert signature_faults(about) == ["the signature does not match datapackage.json"]


def test_signature_for_another_package() -> None:
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    about["hash"] = "sha256:" + hashlib.sha256(b"other").hexdigest()

    assert signature_faults(about) == ["the signature is for another hash than that of datapackage.json"]


def test_signature_of_a_domain() -> None:
    """The certificate must be of the domain, and valid when the package was signed."""
    assert signature_faults(_domain()) == []
    assert "not of the domain" in signature_faults(_domain(domain="other.example"))[0]
    assert "was not valid" in signature_faults(_domain(created=BEGIN - timedelta(days=1)))[0]


def test_chain_of_certificates() -> None:
    """A certificate that the next one has not signed is reported."""
    about, other = _domain(), _domain()
    about["signedData"]["domainCert"] += other["signedData"]["domainCert"]

    assert signature_faults(about) == ["a certificate of the signer is not signed by the next one"]


def test_other_keys() -> None:
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    public = ed25519.Ed25519PrivateKey.generate().public_key()
    about["signedData"]["publicKey"] = _text(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))

    assert "cannot be checked" in signature_faults(about)[0]


@pytest.mark.parametrize("name", ["signature", "publicKey", "domainCert"])
@pytest.mark.parametrize("value", [None, 7, [], "", "!", "AAAA", "\u00e9", "-----BEGIN CERTIFICATE-----"])
def test_signatures_of_any_form(name: str, value: object) -> None:
    """A field of any form is a fault and raises nothing (without a domain's certificate, the key is used)."""
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    about["signedData"][name] = value

    assert bool(signature_faults(about)) == (name != "domainCert" or value != "")


def test_no_signature() -> None:
    """A package without a signature has no fault; one whose signature is not an object has."""
    assert signature_faults({"hash": HASH}) == []
    assert signature_faults({"hash": HASH, "signedData": "x"}) == ["signedData is not an object"]


def _rewritten(out: Path, *, deflate: bool, signed: bool) -> Path:
    with ZipFile(GOOD) as package:
        files = {entry.filename: package.read(entry) for entry in package.infolist()}
    if signed:
        digest = "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()
        about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=True, digest=digest)
        about["signedData"]["signature"] = _text(bytes(64))
        files["datapackage-digest.json"] = json.dumps(about).encode()
    with ZipFile(out, "w") as package:
        for name, data in files.items():
            is_deflated = deflate and name.startswith("archive/")
            package.writestr(name, data, ZIP_DEFLATED if is_deflated else ZIP_STORED)
    return out


@pytest.mark.parametrize(
    ("deflate", "signed", "fault"), [(True, False, "is deflated in the ZIP file"), (False, True, "the signature")]
)
def test_refused_packages(tmp_path: Path, deflate: bool, signed: bool, fault: str) -> None:
    """A deflated WARC file and a wrong signature are faults; an import is refused and says what to do."""
    path = _rewritten(tmp_path / "bad.wacz", deflate=deflate, signed=signed)

    assert [fault in line for line in check_wacz(path)] == [True]
    with pytest.raises(ArchiveError, match=r"is refused: .*Get the file from its source again.*unzip bad\.wacz"):
        list(sightings(path))


def test_a_stored_package_without_signature_is_read(tmp_path: Path) -> None:
    path = _rewritten(tmp_path / "good.wacz", deflate=False, signed=False)

    assert check_wacz(path) == []
    assert list(sightings(path))
