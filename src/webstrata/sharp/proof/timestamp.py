"""RFC 3161 time stamps of the signatures of packages: the request to an authority, and the checks of its response.

Stamped is the text of the signature (base64), as authsign does.

Authorities send their certificates in the order of the chain. DER requires the members of a set in sorted order, and a
strict parser rejects others. No signature covers this order, so the certificates are sorted before parsing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from webstrata.errors import UsageError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509 import (
        Certificate,
        load_der_x509_certificate,
        load_pem_x509_certificate,
        load_pem_x509_certificates,
    )
    from rfc3161_client import (
        HashAlgorithm,
        PKIStatus,
        TimestampRequestBuilder,
        TimeStampResponse,
        VerificationError,
        VerifierBuilder,
        decode_timestamp_response,
    )
except ModuleNotFoundError as missing:  # pragma: no cover - an installation without the extra
    raise UsageError("time stamps need another package: pip install 'webstrata[sharp]'.") from missing

REQUEST_TYPE = "application/timestamp-query"
RESPONSE_TYPE = "application/timestamp-reply"
_CERTIFICATES = 0xA0
_TOKEN, _SIGNED = 1, 1
_MAX_ELEMENTS = 64
_MAX_CERTIFICATES = 16


class DerElement(NamedTuple):
    """The offsets of one element: its tag, the start of its content, and its end."""

    tag: int
    start: int
    content: int
    end: int


def with_sorted_certificates(response: bytes) -> bytes:
    """The response with its set of certificates sorted; unchanged if it cannot be parsed."""
    try:
        (outer,) = _within(response, 0, len(response))
        token = _children(response, outer)[_TOKEN]
        (signed,) = _children(response, _children(response, token)[_SIGNED])
        certificates = next((child for child in _children(response, signed) if child.tag == _CERTIFICATES), None)
        if certificates is None:
            return response
        members = sorted(response[child.start : child.end] for child in _children(response, certificates))
    except (ValueError, IndexError):
        return response
    return response[: certificates.content] + b"".join(members) + response[certificates.end :]


def _children(data: bytes, parent: DerElement) -> list[DerElement]:
    return _within(data, parent.content, parent.end)


def _within(data: bytes, start: int, end: int) -> list[DerElement]:
    """The consecutive elements in this range."""
    elements: list[DerElement] = []
    while start < end:
        more = data[start + 1] & 0x7F if data[start + 1] & 0x80 else 0
        content = start + 2 + more
        last = content + (int.from_bytes(data[start + 2 : content], "big") if more else data[start + 1])
        if last > end or len(elements) >= _MAX_ELEMENTS:
            raise ValueError("not DER")
        elements.append(DerElement(data[start], start, content, last))
        start = last
    return elements


def request(signature: str) -> bytes:
    """The request to the authority for a stamp of this text. It contains its digest and nothing of the capture."""
    builder = TimestampRequestBuilder().data(signature.encode()).hash_algorithm(HashAlgorithm.SHA256)
    return bytes(builder.nonce(nonce=True).cert_request(cert_request=True).build().as_bytes())


def stamped(signature: str, response: bytes, authority: str) -> dict[str, str]:
    """The fields `timeSignature` and `timestampCert` for a response of an authority.

    Raises UsageError if it is no time stamp of this signature.
    """
    token, chain = base64.b64encode(response).decode(), ""
    parsed = _parsed(token)
    with suppress(ValueError, UnsupportedAlgorithm):  # the check below says that they cannot be parsed
        chain = "\n".join(_pem(certificate) for certificate in _chain(parsed)) if parsed else ""
    if problem := checked_stamp(signature, token, chain).problem:
        raise UsageError(f"{authority} gave no time stamp: {problem}.")
    return {"timeSignature": token, "timestampCert": chain}


class CheckedStamp(Struct, frozen=True, kw_only=True):
    """The result of the check of a time stamp."""

    at: float | None = None
    """The time that it states, if it can be parsed and belongs to the signature."""
    problem: str = ""
    is_trusted: bool = False
    """Its chain ends at one of the authorities that were given: nobody else can have made it."""


def checked_stamp(signature: str, token: str, certificates: str, authorities: Sequence[bytes] = ()) -> CheckedStamp:
    """Check a time stamp of the text of a signature: the fields `timeSignature` and `timestampCert`.

    `authorities`: root certificates (PEM), one of which must be at the root of its chain. Without any, it is checked
    only that the stamp belongs to the signature and was signed by the certificates that are in it.
    """
    response = _parsed(token)
    if response is None:
        return CheckedStamp(problem="the time stamp cannot be parsed")
    if response.status not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
        return CheckedStamp(problem="the authority refused")
    if bytes(response.tst_info.message_imprint.message) != hashlib.sha256(signature.encode()).digest():
        return CheckedStamp(problem="the time stamp is for another signature")
    at = response.tst_info.gen_time.timestamp()
    try:
        roots = [load_pem_x509_certificate(pem) for pem in authorities]
        listed = load_pem_x509_certificates(certificates.encode("ascii")) if certificates else []
        chain = _chain(response) or listed  # a stamp may leave its certificates out
    except (ValueError, UnsupportedAlgorithm):
        return CheckedStamp(at=at, problem="the certificates of the time stamp or of the authorities cannot be parsed")
    if not chain or (listed and listed[0] != chain[0]):
        return CheckedStamp(at=at, problem="timestampCert is not the certificate that signed the time stamp")
    is_complete = chain[-1].issuer == chain[-1].subject
    anchors = roots or (chain[-1:] if is_complete else [])
    problem = _signer_problem(response, signature, listed, anchors) if anchors else ""
    if problem and roots:
        problem = f"the authority is not one of the trusted ones ({problem})"
    return CheckedStamp(at=at, problem=problem, is_trusted=bool(roots) and not problem)


def _signer_problem(
    response: TimeStampResponse, signature: str, listed: Sequence[Certificate], roots: Sequence[Certificate]
) -> str:
    """Why the chain of the stamp does not end at one of these roots; empty if it does."""
    builder = VerifierBuilder()
    if listed:
        builder = builder.tsa_certificate(listed[0])
    for root in dict.fromkeys(roots):
        builder = builder.add_root_certificate(root)
    for certificate in dict.fromkeys(listed[1:]):
        if certificate.issuer != certificate.subject:
            builder = builder.add_intermediate_certificate(certificate)
    try:
        builder.build().verify_message(response, signature.encode())
    except (VerificationError, ValueError) as problem:
        return f"the signature of the time stamp is not valid: {problem}"
    return ""


def _chain(response: TimeStampResponse) -> list[Certificate]:
    """The certificates in a response: first the one that signed it, then each one's issuer."""
    sent = sorted(response.signed_data.certificates)
    if len(sent) > _MAX_CERTIFICATES:
        raise ValueError("too many certificates")
    certificates = [load_der_x509_certificate(der) for der in sent]
    signers = [(signer.issuer, signer.serial_number) for signer in response.signed_data.signer_infos]
    chain = [one for one in certificates if (one.issuer, one.serial_number) in signers][:1]
    while chain and (issuer := _issuer(chain[-1], certificates)) is not None and issuer not in chain:
        chain.append(issuer)
    return chain


def _issuer(certificate: Certificate, candidates: Sequence[Certificate]) -> Certificate | None:
    for candidate in candidates:
        try:
            certificate.verify_directly_issued_by(candidate)
        except (InvalidSignature, ValueError, TypeError, UnsupportedAlgorithm):
            continue
        return candidate
    return None


def _pem(certificate: Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _parsed(token: str) -> TimeStampResponse | None:
    try:
        response = base64.b64decode(token, validate=True)
        return decode_timestamp_response(with_sorted_certificates(response))
    except (binascii.Error, ValueError):
        return None
