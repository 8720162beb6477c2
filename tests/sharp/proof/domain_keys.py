"""Keys and certificates of a domain, made for a test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

DOMAIN = "archive.example.org"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class DomainKeys(NamedTuple):
    """The private key of a domain, its certificate, and that of the root (all PEM)."""

    key: bytes
    certificate: bytes
    root: bytes

    @property
    def chain(self) -> bytes:
        return self.certificate + self.root


def domain_keys(begin: datetime = BEGIN, domain: str = DOMAIN) -> DomainKeys:
    """A new key with a certificate of a new root, valid for 90 days."""
    root_key, key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP256R1())
    root_name, name = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in ("root", domain))
    end = begin + timedelta(days=90)

    def issued(subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        new = x509.CertificateBuilder().subject_name(subject).issuer_name(root_name).public_key(public_key)
        return new.serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)

    names = x509.SubjectAlternativeName([x509.DNSName(domain)])
    root = issued(root_name, root_key.public_key()).add_extension(x509.BasicConstraints(True, None), critical=True)
    own = issued(name, key.public_key()).add_extension(names, critical=False)
    return DomainKeys(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        own.sign(root_key, SHA256()).public_bytes(Encoding.PEM),
        root.sign(root_key, SHA256()).public_bytes(Encoding.PEM),
    )
