"""Who signed, and whether the reader trusts them, is said before everything else."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import msgspec

from tests.flows.verify.packages import SIGNER, contents, make_package, repacked
from webstrata.archive.wacz.reader import WaczReader
from webstrata.flows.verify.signer_check import CheckedSigner, TrustOptions
from webstrata.flows.verify.verification import Verification, verify
from webstrata.sharp.proof.signature import PackageSigner, new_key
from webstrata.sharp.proof.trust import TRUST_TYPE, TRUST_VERSION, KeyRevocation, TrustedKey, TrustFile, parse_trust


def checked(path: Path, **options: Any) -> Verification:
    with WaczReader(path) as package:
        return verify(package, TrustOptions(**options))


def trust_file(signer: PackageSigner, **fields: Any) -> bytes:
    key = TrustedKey(
        name="The Archive",
        fingerprint=signer.fingerprint,
        public_key=base64.b64encode(signer.public_key).decode(),
        **fields,
    )
    return msgspec.json.encode(TrustFile(type=TRUST_TYPE, version=TRUST_VERSION, keys=(key,)))


def test_an_unknown_key(tmp_path: Path) -> None:
    """An unknown key is no failure, but the first sentence says so."""
    result = checked(make_package(tmp_path))
    assert result.is_valid
    assert result.signer.text.startswith(f"Signed with an UNKNOWN key {SIGNER.fingerprint}")
    assert (result.signer.trusted, result.signer.signer) == (None, None)


def test_required_and_trusted_keys(tmp_path: Path) -> None:
    """A required key or a key of the trust file must have signed; the package signed again with another is refused."""
    path = make_package(tmp_path)
    keys = parse_trust(trust_file(SIGNER))
    assert checked(path, key=SIGNER.fingerprint).signer.text.startswith("Signed with the required key")
    trusted = checked(path, keys=keys)
    assert trusted.is_valid
    assert trusted.signer.text == f"Signed by The Archive (trusted key {SIGNER.fingerprint})."

    repacked(path, signer=PackageSigner(new_key()))
    assert checked(path).is_valid
    for result in (checked(path, key=SIGNER.fingerprint), checked(path, keys=keys)):
        assert not result.is_valid
        assert result.signer.trusted is False
        assert "UNTRUSTED" in result.signer.text


def test_a_revoked_key(tmp_path: Path) -> None:
    """A key that was revoked before the signature is not trusted."""
    keys = parse_trust(trust_file(SIGNER, revoked=KeyRevocation(at="2026-01-01T00:00:00Z", reason="stolen")))
    result = checked(make_package(tmp_path), keys=keys)
    assert [failure.what for failure in result.failures] == [
        "the key 'The Archive' was revoked at 2026-01-01T00:00:00Z (stolen), before this package was signed"
    ]
    assert "NOT TRUSTED" in result.signer.text


def _with_document(path: Path, change: dict[str, Any]) -> CheckedSigner:
    files = contents(path)
    document = json.loads(files["datapackage-digest.json"])
    document["signedData"] |= change
    document["signedData"] = {name: value for name, value in document["signedData"].items() if value}
    files["datapackage-digest.json"] = json.dumps(document if document["signedData"] else {}).encode()
    with ZipFile(path, "w", ZIP_STORED) as package:
        for name, data in files.items():
            package.writestr(ZipInfo(name), data)
    return checked(path).signer


def test_wrong_signatures(tmp_path: Path) -> None:
    """The signature of another digest, of another key, or none at all is a failure."""
    path = make_package(tmp_path)
    other = PackageSigner(new_key())
    found = _with_document(path, {"publicKey": base64.b64encode(other.public_key).decode()})
    assert (found.signature, found.text.startswith("The signature is NOT VALID")) == ("invalid", True)

    files = contents(path)
    files["datapackage-digest.json"] = json.dumps(
        {name: json.loads(files["datapackage-digest.json"])[name] for name in ("path", "hash")}
    ).encode()
    with ZipFile(path, "w", ZIP_STORED) as package:
        for name, data in files.items():
            package.writestr(ZipInfo(name), data)
    result = checked(path)
    assert (result.signer.signature, result.signer.text[:10]) == ("missing", "NOT SIGNED")
    assert [failure.what for failure in result.failures] == ["the package is not signed"]


def test_a_missing_time_stamp(tmp_path: Path) -> None:
    """Who names an authority requires its time stamp."""
    result = checked(make_package(tmp_path), authorities=(b"any",))
    assert "there is no time stamp" in result.failures[0].what
    assert result.signer.stamp_text.startswith("No time stamp")
