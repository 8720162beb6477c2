"""Certificates for hosts with TLS: a certificate authority that the crawler trusts, and good and bad certificates."""

from __future__ import annotations

import ssl
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.attacks.behaviour import Tls

_DAY = timedelta(days=1)


class Authority:
    """A certificate authority of one run; its files are in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Authority of the attack tests")
        self._certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .add_extension(_CA_USAGE, critical=True)
            .sign(self._key, SHA256())
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._certificate.public_bytes(Encoding.PEM))

    def context(self, host: str, tls: Tls) -> ssl.SSLContext:
        """The server side of TLS for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = "elsewhere.test" if tls == "other-name" else host
        is_own = tls == "self-signed"
        issuer = _name(name) if is_own else self._name
        certificate = (
            _builder(_name(name), issuer, key.public_key(), is_expired=tls == "expired")
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key((key if is_own else self._key).public_key()),
                critical=False,
            )
            .sign(key if is_own else self._key, SHA256())
        )
        file = self._folder / f"{host}.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        if tls == "old":
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = ssl.TLSVersion.TLSv1_1
        return context


_CA_USAGE = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, is_expired: bool = False
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 30 * _DAY)
        .not_valid_after(now - _DAY if is_expired else now + 30 * _DAY)
    )
