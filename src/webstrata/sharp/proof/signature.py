"""The Ed25519 signature of a certificate. The signed document is an envelope: certificate, signature, time stamp."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import msgspec

from webstrata.errors import UsageError

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
except ModuleNotFoundError as missing:  # pragma: no cover - an installation without the extra
    raise UsageError("signing needs another package: pip install 'webstrata[sharp]'.") from missing


def new_key() -> bytes:
    """The 32 bytes of a new private key."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def sign(certificate: dict[str, Any], private_key: bytes) -> dict[str, Any]:
    """The certificate in an envelope with its signature."""
    key = Ed25519PrivateKey.from_private_bytes(private_key)
    public = key.public_key().public_bytes_raw()
    return {
        "certificate": certificate,
        "signature": {
            "algorithm": "Ed25519",
            "public_key": base64.b64encode(public).decode(),
            "fingerprint": fingerprint(public),
            "value": base64.b64encode(key.sign(canonical(certificate))).decode(),
        },
    }


def canonical(document: Any) -> bytes:
    """The bytes that are signed: JSON without whitespace, with sorted keys and without fractional numbers."""
    return msgspec.json.encode(document, order="sorted")


def fingerprint_of(private_key: bytes) -> str:
    """The fingerprint of the public key of a private key."""
    return fingerprint(Ed25519PrivateKey.from_private_bytes(private_key).public_key().public_bytes_raw())


def fingerprint(public_key: bytes) -> str:
    """The SHA-256 fingerprint by which people compare public keys."""
    return "sha256:" + hashlib.sha256(public_key).hexdigest()


def signature_fault(envelope: dict[str, Any], expected: str | None = None) -> str | None:
    """What is wrong with the signature; None if it is valid. `expected`: fingerprint of the required key."""
    signature = envelope.get("signature")
    if not isinstance(signature, dict) or signature.get("algorithm") != "Ed25519":
        return "there is no Ed25519 signature"
    try:
        public = base64.b64decode(str(signature.get("public_key")), validate=True)
        value = base64.b64decode(str(signature.get("value")), validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(value, canonical(envelope.get("certificate")))
    except (binascii.Error, ValueError):
        return "the signature or its key cannot be decoded"
    except InvalidSignature:
        return "the signature does not match the certificate: one of them was altered"
    if signature.get("fingerprint") != fingerprint(public):
        return "the key's fingerprint is not that of the key"
    if expected is not None and expected != fingerprint(public):
        return f"it was signed with another key, {fingerprint(public)}"
    return None
