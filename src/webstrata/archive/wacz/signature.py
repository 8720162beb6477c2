"""Check of the signature of a WACZ file (WACZ Signing and Verification 0.1: `signedData` in `datapackage-digest.json`).

The signature covers the text of the hash of `datapackage.json`, and through it every file. Its key is in the document:
as it is (`publicKey`, anonymous), or in the certificate of a domain (`domainCert`). Checked are the signature, the
names and the period of the certificate, and that each certificate is signed by the next. Not checked are the root of
the chain, which needs a list of trusted roots, and the time stamp.
"""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise
from typing import Any

from webstrata.clock import parse_instant
from webstrata.errors import UsageError

_MAX_TEXT = 256 * 1024
_UNREADABLE = "the signature or its key cannot be decoded"


def signature_faults(about: dict[str, Any]) -> list[str]:
    """The faults of the signature in the document `datapackage-digest.json`; none if there is no signature."""
    signed = about.get("signedData")
    if signed is None:
        return []
    if not isinstance(signed, dict):
        return ["signedData is not an object"]
    if signed.get("hash") != about.get("hash"):
        return ["the signature is for another hash than that of datapackage.json"]
    fields = [signed.get(name, "") for name in ("hash", "signature", "publicKey", "domain", "domainCert", "created")]
    if not all(isinstance(field, str) and len(field) <= _MAX_TEXT for field in fields):
        return [_UNREADABLE]
    digest, signature, public_key, domain, chain, created = fields
    try:
        raw = base64.b64decode(signature, validate=True)
        if chain:
            return _domain_faults(chain, domain, created, raw, digest.encode())
        key_bytes = base64.b64decode(public_key, validate=True)
        return _key_faults(key_bytes, raw, digest.encode())
    except (binascii.Error, ValueError):
        return [_UNREADABLE]
    except ModuleNotFoundError:  # pragma: no cover - an installation without the extra
        return ["the signature cannot be checked without another package: pip install 'webstrata[sharp]'"]


def _key_faults(key_bytes: bytes, signature: bytes, message: bytes) -> list[str]:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        key = load_der_public_key(key_bytes)
    except UnsupportedAlgorithm:
        return [_UNREADABLE]
    return _signature_faults(key, signature, message)


def _domain_faults(chain: str, domain: str, created: str, signature: bytes, message: bytes) -> list[str]:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.x509 import load_pem_x509_certificates

    try:
        certificates = load_pem_x509_certificates(chain.encode("ascii"))
        for certificate, issuer in pairwise(certificates):
            certificate.verify_directly_issued_by(issuer)
        faults = _signature_faults(certificates[0].public_key(), signature, message)
    except (InvalidSignature, TypeError):
        return ["a certificate of the signer is not signed by the next one"]
    except UnsupportedAlgorithm:
        return [_UNREADABLE]
    if domain.lower() not in _names(certificates[0]):
        faults.append(f"the certificate of the signer is not of the domain {domain[:80]!r}")
    at = _instant(created)
    begin, end = certificates[0].not_valid_before_utc.timestamp(), certificates[0].not_valid_after_utc.timestamp()
    if at is None or not begin <= at <= end:
        faults.append(f"the certificate of the signer was not valid at the time of the signature ({created[:40]!r})")
    return faults


def _signature_faults(key: Any, signature: bytes, message: bytes) -> list[str]:
    """Signatures are ECDSA with SHA-256, as DER (servers) or as two numbers of equal length (browsers)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    if not isinstance(key, EllipticCurvePublicKey):
        return ["the signature has a kind of key that cannot be checked (not ECDSA)"]
    half = (key.key_size + 7) // 8
    if len(signature) == 2 * half:
        numbers = (int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big"))
        signature = encode_dss_signature(*numbers)
    try:
        key.verify(signature, message, ECDSA(SHA256()))
    except InvalidSignature:
        return ["the signature does not match datapackage.json"]
    return []


def _names(certificate: Any) -> set[str]:
    """The domains that a certificate is issued for, in lower case."""
    from cryptography.x509 import DNSName, ExtensionNotFound, SubjectAlternativeName

    try:
        names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    except ExtensionNotFound:
        return set()
    return {str(name).lower() for name in names.get_values_for_type(DNSName)}


def _instant(text: str) -> float | None:
    try:
        return parse_instant(text)
    except UsageError:
        return None
