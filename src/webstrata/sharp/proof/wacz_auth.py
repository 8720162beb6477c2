"""Check of the signature of a WACZ file, by WACZ Signing and Verification 0.1.0: `signedData` in its digest document.

The signature covers the text of the hash of `datapackage.json`, and through it every file. Its key is in the document:
as it is (`publicKey`, anonymous), or in the certificate of a domain (`domainCert`). Checked are the signature, the
names and the period of the certificate, that each certificate is signed by the next, and the time stamp. The root of a
domain's chain is not checked: this needs a list of trusted roots. Whether a key is trusted says `trust.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.sharp.proof.certificate_chain import chain_problem, domains_of
from webstrata.sharp.proof.signature import der_of, ec_key, fingerprint, is_signed
from webstrata.sharp.proof.timestamp import CheckedStamp, checked_stamp

try:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate, load_pem_x509_certificates
except ModuleNotFoundError as missing:  # pragma: no cover - an installation without the extra
    raise UsageError("signatures need another package: pip install 'webstrata[sharp]'.") from missing

_MAX_TEXT = 256 * 1024
_UNREADABLE = "the signature or its key cannot be decoded"
_OTHER_KEY = "the signature has a kind of key that cannot be checked (not ECDSA)"
_MISMATCH = "the signature does not match datapackage.json"


class PackageSignature(Struct, frozen=True, kw_only=True):
    """The signature of a package, as checked. What `problems` is not empty for must not be believed."""

    kind: Literal["anonymous", "domain", ""] = ""
    key: bytes = b""
    """The public key (DER); empty if it cannot be decoded."""
    domain: str = ""
    created: float | None = None
    """When it was signed, as the signer states."""
    stamp: CheckedStamp | None = None
    """The time stamp; None without one. Its problem is also in `problems`."""
    problems: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str | None:
        return fingerprint(self.key) if self.key else None

    @property
    def stamped_at(self) -> float | None:
        """The time of a time stamp that one of the given authorities made: a proof, unlike `created`."""
        return self.stamp.at if self.stamp is not None and self.stamp.is_trusted else None


def checked_signature(
    document: dict[str, Any], datapackage: bytes, authorities: Sequence[bytes] = ()
) -> PackageSignature | None:
    """Check `signedData` of `datapackage-digest.json` for the bytes of `datapackage.json`; None if it is not signed.

    `authorities`: root certificates (PEM) of time-stamp authorities, one of which must have made the time stamp.
    """
    signed = document.get("signedData")
    if signed is None:
        return None
    names = ("hash", "signature", "publicKey", "domain", "domainCert", "created", "timeSignature", "timestampCert")
    if not isinstance(signed, dict):
        return PackageSignature(problems=("signedData is not an object",))
    fields = {name: signed.get(name, "") for name in names}
    if not all(isinstance(field, str) and len(field) <= _MAX_TEXT for field in fields.values()):
        return PackageSignature(problems=(_UNREADABLE,))
    try:
        checked = _domain(fields) if fields["domainCert"] else _anonymous(fields)
        stamp = _stamp(fields, authorities)
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        return PackageSignature(problems=(_UNREADABLE,))
    problems = [*_hash_problems(document, fields, datapackage), *checked.problems]
    if stamp is not None and stamp.problem:
        problems.append(stamp.problem)
    return PackageSignature(
        kind=checked.kind,
        key=checked.key,
        domain=checked.domain,
        created=_instant(fields["created"]),
        stamp=stamp,
        problems=tuple(problems),
    )


def _hash_problems(document: dict[str, Any], fields: dict[str, str], datapackage: bytes) -> list[str]:
    digest = "sha256:" + hashlib.sha256(datapackage).hexdigest()
    if fields["hash"] != document.get("hash") or fields["hash"] != digest:
        return ["the signature is for another hash than that of datapackage.json"]
    try:
        about = json.loads(datapackage)
    except (ValueError, RecursionError):
        return []  # the check of the package says so
    created = about.get("created") if isinstance(about, dict) else None
    if created is not None and fields["created"] and created != fields["created"]:
        return ["the time of the signature is not that of datapackage.json"]
    return []


def _anonymous(fields: dict[str, str]) -> PackageSignature:
    key = base64.b64decode(fields["publicKey"], validate=True)
    return PackageSignature(kind="anonymous", key=key, problems=_signature_problems(key, fields))


def _domain(fields: dict[str, str]) -> PackageSignature:
    chain = load_pem_x509_certificates(fields["domainCert"].encode("ascii"))
    domain = fields["domain"].lower()
    public_key = chain[0].public_key()
    if not isinstance(public_key, EllipticCurvePublicKey):
        return PackageSignature(kind="domain", domain=domain, problems=(_OTHER_KEY,))
    key = der_of(public_key)
    problems = [*_signature_problems(key, fields), *_certificate_problems(chain, domain, fields["created"])]
    return PackageSignature(kind="domain", key=key, domain=domain, problems=tuple(problems))


def _signature_problems(key: bytes, fields: dict[str, str]) -> tuple[str, ...]:
    signature = base64.b64decode(fields["signature"], validate=True)
    if ec_key(key) is None:
        return (_OTHER_KEY,)
    return () if is_signed(key, signature, fields["hash"].encode()) else (_MISMATCH,)


def _certificate_problems(chain: Sequence[Certificate], domain: str, created: str) -> list[str]:
    problems = [problem] if (problem := chain_problem(chain)) else []
    if domain not in domains_of(chain[0]):
        problems.append(f"the certificate of the signer is not of the domain {domain[:80]!r}")
    at = _instant(created)
    begin, end = chain[0].not_valid_before_utc.timestamp(), chain[0].not_valid_after_utc.timestamp()
    if at is None or not begin <= at <= end:
        problems.append(f"the certificate of the signer was not valid at the time of the signature ({created[:40]!r})")
    return problems


def _stamp(fields: dict[str, str], authorities: Sequence[bytes]) -> CheckedStamp | None:
    if not fields["timeSignature"]:
        return None
    return checked_stamp(fields["signature"], fields["timeSignature"], fields["timestampCert"], authorities)


def _instant(text: str) -> float | None:
    try:
        return parse_instant(text)
    except UsageError:
        return None
