"""Signatures of packages (WACZ Signing and Verification 0.1.0): the keys, and the object `signedData`.

Anonymous signatures have the form that ArchiveWeb.page writes: ECDSA over P-384, the two numbers one after the other.
Signatures of a domain have the form of authsign: DER, with the certificates of the domain.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime

from webstrata.clock import iso
from webstrata.errors import UsageError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_der_public_key,
        load_pem_private_key,
    )
    from cryptography.x509 import Certificate, load_pem_x509_certificates
except ModuleNotFoundError as missing:  # pragma: no cover - an installation without the extra
    raise UsageError("signing needs another package: pip install 'webstrata[sharp]'.") from missing

from webstrata.sharp.proof.certificate_chain import chain_problem, domains_of

AUTH_VERSION = "0.1.0"
_CURVE = ec.SECP384R1()


def new_key() -> bytes:
    """A new private key (PEM, PKCS 8)."""
    key = ec.generate_private_key(_CURVE)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def fingerprint(public_key: bytes) -> str:
    """The fingerprint by which people compare public keys (DER)."""
    return "sha256:" + hashlib.sha256(public_key).hexdigest()


class PackageSigner:
    """Signs packages with a private key: anonymously or, with its certificates, in the name of a domain."""

    def __init__(self, private_key: bytes, chain: bytes = b"", *, origin: str = "the signing key") -> None:
        """`private_key`: PEM. `chain`: the domain's certificate and those of its issuers (PEM), in this order.

        `origin` names the key in messages. Raises UsageError if the key and the certificates cannot be used.
        """
        self._key = _loaded(private_key, origin)
        self.public_key = der_of(self._key.public_key())
        self.fingerprint = fingerprint(self.public_key)
        self.domain = ""
        self._chain = _loaded_chain(chain, self.public_key) if chain else []
        if self._chain:
            self.domain = domains_of(self._chain[0])[0]

    def sign(self, message: bytes) -> bytes:
        """An ECDSA signature with SHA-256 (DER)."""
        return self._key.sign(message, ec.ECDSA(SHA256()))

    def require_valid(self, at: float) -> None:
        """Raise UsageError if the domain's certificate is not valid at this time."""
        if not self._chain:
            return
        begin, end = (moment.timestamp() for moment in _period(self._chain[0]))
        if not begin <= at <= end:
            raise UsageError(
                f"the certificate of {self.domain} is valid from {iso(begin)} to {iso(end)}, not now. Renew it and "
                "name the new file in capture.domain_certificate."
            )

    def signed_data(self, digest: str, created: float, software: str) -> dict[str, str]:
        """The object `signedData` for the digest of a package. `created` must be a whole second."""
        self.require_valid(created)
        common = {"hash": digest, "created": iso(created), "software": software, "version": AUTH_VERSION}
        signature = self.sign(digest.encode())
        if self._chain:
            # ReplayWeb.page separates certificates by blank lines.
            chain = "\n".join(one.public_bytes(Encoding.PEM).decode() for one in self._chain)
            return common | {"signature": _text(signature), "domain": self.domain, "domainCert": chain}
        return common | {"signature": _text(_joined(signature)), "publicKey": _text(self.public_key)}


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether this is an ECDSA signature with SHA-256 by this public key (DER): as DER, or as two numbers."""
    key = ec_key(public_key)
    if key is None:
        return False
    half = (key.key_size + 7) // 8
    forms = [signature]
    if len(signature) == 2 * half:
        numbers = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
        forms.append(encode_dss_signature(*numbers))
    return any(_verifies(key, form, message) for form in forms)


def ec_key(public_key: bytes) -> ec.EllipticCurvePublicKey | None:
    """The public key (DER); None if it is not a key for ECDSA. Raises ValueError if it is no key."""
    try:
        key = load_der_public_key(public_key)
    except UnsupportedAlgorithm:
        return None
    return key if isinstance(key, ec.EllipticCurvePublicKey) else None


def der_of(key: ec.EllipticCurvePublicKey) -> bytes:
    """The public key as DER (SubjectPublicKeyInfo)."""
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _verifies(key: ec.EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _joined(signature: bytes) -> bytes:
    """The two numbers of a signature one after the other, as browsers write them."""
    half = (_CURVE.key_size + 7) // 8
    return b"".join(number.to_bytes(half, "big") for number in decode_dss_signature(signature))


def _loaded(pem: bytes, origin: str) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem, None)
    except TypeError:
        raise UsageError(f"{origin} is encrypted. Give a PEM file without a passphrase.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(f"{origin} is not a private key in PEM form. Give another file.") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise UsageError(f"{origin} is not a key for ECDSA. Make one: openssl ecparam -name secp384r1 -genkey -noout.")
    return key


def _loaded_chain(pem: bytes, public_key: bytes) -> list[Certificate]:
    """The certificates of a domain, if they belong to this key and each is signed by the next."""
    try:
        chain = load_pem_x509_certificates(pem)
        problem = chain_problem(chain)
        leaf_key = chain[0].public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError("capture.domain_certificate is not a file of certificates in PEM form.") from None
    if not isinstance(leaf_key, ec.EllipticCurvePublicKey) or der_of(leaf_key) != public_key:
        problem = "its first certificate is not that of capture.domain_key"
    elif not domains_of(chain[0]):
        problem = "its first certificate names no domain"
    if problem:
        raise UsageError(
            f"capture.domain_certificate cannot be used: {problem}. Give the full chain, the domain first."
        )
    return chain


def _period(certificate: Certificate) -> tuple[datetime, datetime]:
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
