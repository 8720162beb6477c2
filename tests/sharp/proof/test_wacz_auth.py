"""Signatures of WACZ files: those of other programs, our own, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from tests.conformance.runner import EXTRACT
from tests.sharp.proof.domain_keys import BEGIN, DOMAIN, domain_keys
from webstrata.archive.sightings import sightings
from webstrata.archive.wacz.check import check_wacz
from webstrata.errors import ArchiveError, UsageError
from webstrata.node import signature_faults
from webstrata.sharp.proof.signature import PackageSigner, fingerprint, new_key
from webstrata.sharp.proof.wacz_auth import PackageSignature, checked_signature

GOOD = EXTRACT / "wacz" / "files" / "valid_example_1.wacz"
PACKAGE = b"{}"
HASH = "sha256:" + hashlib.sha256(PACKAGE).hexdigest()
AT = (BEGIN + timedelta(days=1)).timestamp()


def _anonymous(key: ec.EllipticCurvePrivateKey, *, raw: bool, digest: str = HASH) -> dict[str, Any]:
    signature = key.sign(digest.encode(), ec.ECDSA(SHA256()))
    if raw:
        half = (key.key_size + 7) // 8
        signature = b"".join(number.to_bytes(half, "big") for number in decode_dss_signature(signature))
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    signed = {"hash": digest, "signature": _text(signature), "publicKey": _text(public)}
    return {"path": "datapackage.json", "hash": digest, "signedData": signed}


def _of_domain(signer: PackageSigner, **fields: str) -> dict[str, Any]:
    return {"hash": HASH, "signedData": signer.signed_data(HASH, AT, "webstrata/1") | fields}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _checked(document: dict[str, Any], package: bytes = PACKAGE) -> PackageSignature:
    signature = checked_signature(document, package)
    assert signature is not None
    return signature


def _problems(document: dict[str, Any], package: bytes = PACKAGE) -> list[str]:
    return list(_checked(document, package).problems)


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1()], ids=lambda curve: curve.name)
@pytest.mark.parametrize("raw", [True, False])
def test_anonymous_signature(curve: ec.EllipticCurve, raw: bool) -> None:
    """A signature in the form of browsers or of servers is valid, and is not after a change of one bit."""
    about = _anonymous(ec.generate_private_key(curve), raw=raw)
    assert _problems(about) == []
    assert _checked(about).fingerprint == fingerprint(base64.b64decode(about["signedData"]["publicKey"]))

    signature = bytearray(base64.b64decode(about["signedData"]["signature"]))
    signature[-1] ^= 1
    about["signedData"]["signature"] = _text(bytes(signature))
    assert _problems(about) == ["the signature does not match datapackage.json"]


def test_signature_for_another_package() -> None:
    """The hash that is signed must be that of the bytes of datapackage.json, in both places of the document."""
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    other = ["the signature is for another hash than that of datapackage.json"]
    assert _problems(about, b"{ }") == other
    assert _problems(about | {"hash": "sha256:" + hashlib.sha256(b"other").hexdigest()}) == other


def test_time_of_the_signature() -> None:
    """The time in the signature must be that of datapackage.json, as py-wacz requires."""
    package = b'{"created": "2026-01-02T00:00:01Z"}'
    digest = "sha256:" + hashlib.sha256(package).hexdigest()
    signer = PackageSigner(new_key())
    for at, problems in ((AT + 1, []), (AT, ["the time of the signature is not that of datapackage.json"])):
        document = {"hash": digest, "signedData": signer.signed_data(digest, at, "webstrata/1")}
        assert _problems(document, package) == problems
        assert _checked(document, package).created == at


def test_own_anonymous_signature_by_other_means(tmp_path: Path) -> None:
    """The signature has the form of ArchiveWeb.page, and `cryptography` and OpenSSL verify it without our code."""
    signed = PackageSigner(new_key()).signed_data(HASH, AT, "webstrata/1")
    assert sorted(signed) == ["created", "hash", "publicKey", "signature", "software", "version"]
    assert (signed["hash"], signed["created"], signed["version"]) == (HASH, "2026-01-02T00:00:00Z", "0.1.0")
    raw, public = base64.b64decode(signed["signature"]), base64.b64decode(signed["publicKey"])
    assert len(raw) == 96
    key = load_der_public_key(public)
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert key.curve.name == "secp384r1"
    signature = encode_dss_signature(int.from_bytes(raw[:48], "big"), int.from_bytes(raw[48:], "big"))
    key.verify(signature, HASH.encode(), ec.ECDSA(SHA256()))

    files = {"key.der": public, "signature": signature, "hash": HASH.encode()}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    words = ["openssl", "dgst", "-sha256", "-verify", "key.der", "-keyform", "DER", "-signature", "signature", "hash"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout == b"Verified OK\n"
    (tmp_path / "hash").write_bytes(HASH[:-1].encode())
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_signature_of_a_domain() -> None:
    """The certificate must be of the domain, and valid when the package was signed."""
    keys = domain_keys()
    signer = PackageSigner(keys.key, keys.chain)
    valid = _checked(_of_domain(signer))
    assert (valid.kind, valid.domain, valid.problems) == ("domain", DOMAIN, ())
    assert valid.fingerprint == signer.fingerprint
    assert "not of the domain" in _problems(_of_domain(signer, domain="other.example"))[0]
    assert "was not valid" in _problems(_of_domain(signer, created="2025-12-31T00:00:00Z"))[0]
    with pytest.raises(UsageError, match=r"valid from 2026-01-01T00:00:00Z to .*Renew it"):
        signer.signed_data(HASH, AT + 100 * 86400, "webstrata/1")


def test_chain_of_certificates() -> None:
    """A certificate that the next one has not signed is reported, and is not used to sign."""
    keys, other = domain_keys(), domain_keys()
    signer = PackageSigner(keys.key, keys.chain)
    chain = keys.certificate + other.root
    assert _problems(_of_domain(signer, domainCert=chain.decode())) == [
        "a certificate of the signer is not signed by the next one"
    ]
    for wrong, why in (
        (chain, "not signed by the next"),
        (other.chain, "not that of capture.domain_key"),
        (b"x", "PEM"),
    ):
        with pytest.raises(UsageError, match=why):
            PackageSigner(keys.key, wrong)


def test_keys_that_cannot_sign() -> None:
    """Other kinds of keys, encrypted keys and other files are refused with the name of the file."""
    for pem, why in (
        (b"x", "k.pem is not a private key in PEM form"),
        (_openssl("genpkey", "-algorithm", "ed25519"), "k.pem is not a key for ECDSA"),
        (_openssl("genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x"), "k.pem is encrypted"),
    ):
        with pytest.raises(UsageError, match=why):
            PackageSigner(pem, origin="k.pem")


def _openssl(*words: str) -> bytes:
    return subprocess.run(["openssl", *words], capture_output=True, check=True).stdout


def test_other_keys() -> None:
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    public = ed25519.Ed25519PrivateKey.generate().public_key()
    about["signedData"]["publicKey"] = _text(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))

    assert "cannot be checked" in _problems(about)[0]


@pytest.mark.parametrize("name", ["signature", "publicKey", "domainCert", "timeSignature", "hash", "created"])
@pytest.mark.parametrize("value", [None, 7, [], "", "!", "AAAA", "\u00e9", "-----BEGIN CERTIFICATE-----"])
def test_signatures_of_any_form(name: str, value: object) -> None:
    """A field of any form is a fault and raises nothing (without a domain's certificate, the key is used)."""
    about = _anonymous(ec.generate_private_key(ec.SECP256R1()), raw=False)
    about["signedData"][name] = value
    optional = name in ("domainCert", "timeSignature") and value == ""
    assert bool(_problems(about)) != (optional or (name == "created" and isinstance(value, str)))


def test_no_signature() -> None:
    """A package without a signature has no fault; one whose signature is not an object has."""
    assert checked_signature({"hash": HASH}, PACKAGE) is None
    assert _problems({"hash": HASH, "signedData": "x"}) == ["signedData is not an object"]


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

    assert [fault in line for line in check_wacz(path, signature_faults)] == [True]
    with pytest.raises(ArchiveError, match=r"is refused: .*Get the file from its source again.*unzip bad\.wacz"):
        list(sightings(path, signature=signature_faults))


def test_a_stored_package_without_signature_is_read(tmp_path: Path) -> None:
    path = _rewritten(tmp_path / "good.wacz", deflate=False, signed=False)

    assert check_wacz(path, signature_faults) == []
    assert list(sightings(path, signature=signature_faults))
