"""Certificates of domains (X.509): the order of a chain, and the names that it is issued for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from webstrata.errors import UsageError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.x509 import Certificate, DNSName, ExtensionNotFound, NameOID, SubjectAlternativeName
except ModuleNotFoundError as missing:  # pragma: no cover - an installation without the extra
    raise UsageError("certificates need another package: pip install 'webstrata[sharp]'.") from missing

MAX_CERTIFICATES = 16


def chain_problem(chain: Sequence[Certificate]) -> str:
    """Why these are not a certificate, the one of its issuer, and so on; empty if they are. Roots are not checked."""
    if len(chain) > MAX_CERTIFICATES:
        return f"there are more than {MAX_CERTIFICATES} certificates"
    for certificate, issuer in pairwise(chain):
        try:
            certificate.verify_directly_issued_by(issuer)
        except (InvalidSignature, ValueError, TypeError, UnsupportedAlgorithm):
            return "a certificate of the signer is not signed by the next one"
    return ""


def domains_of(certificate: Certificate) -> list[str]:
    """The domains that a certificate is issued for: first its common name, then the alternative names."""
    names: list[str] = []
    try:
        names += [str(one.value) for one in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        extension = certificate.extensions.get_extension_for_class(SubjectAlternativeName)
        names += extension.value.get_values_for_type(DNSName)
    except (ExtensionNotFound, ValueError):
        pass
    return list(dict.fromkeys(name.lower() for name in names))
