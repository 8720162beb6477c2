"""RFC 3161 time stamps: the request to a time stamp authority, and the checks of its response.

Authorities send their certificates in the order of the chain. DER requires the members of a set in sorted order, and a
strict parser rejects others. No signature covers this order, so the certificates are sorted before parsing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from webstrata.errors import UsageError

try:
    from cryptography.x509 import load_pem_x509_certificate
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


def request(envelope: dict[str, Any]) -> bytes:
    """The request to the authority. It contains a digest of the signature and nothing of the capture."""
    builder = TimestampRequestBuilder().data(_signature_bytes(envelope)).hash_algorithm(HashAlgorithm.SHA256)
    return bytes(builder.nonce(nonce=True).cert_request(cert_request=True).build().as_bytes())


def stamped(envelope: dict[str, Any], response: bytes, authority: str) -> dict[str, Any]:
    """The envelope with the authority's response. Raises UsageError if it is no time stamp of this signature."""
    with_stamp = envelope | {"timestamp": {"authority": authority, "token": base64.b64encode(response).decode()}}
    fault = timestamp_fault(with_stamp)
    if fault is not None:
        raise UsageError(f"{authority} gave no time stamp: {fault}.")
    return with_stamp


def timestamp_fault(envelope: dict[str, Any], authorities: Sequence[bytes] = ()) -> str | None:
    """What is wrong with the time stamp; None if it is valid.

    `authorities`: root certificates (PEM), one of which must be at the root of its chain. Without any, the check is
    limited to the digest of the signature.
    """
    response = _response(envelope)
    if response is None:
        return "the time stamp cannot be parsed"
    if PKIStatus(response.status) not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
        return "the authority refused"
    if bytes(response.tst_info.message_imprint.message) != hashlib.sha256(_signature_bytes(envelope)).digest():
        return "the time stamp is for another signature"
    return _authority_fault(response, envelope, authorities) if authorities else None


def _authority_fault(response: TimeStampResponse, envelope: dict[str, Any], authorities: Sequence[bytes]) -> str | None:
    builder = VerifierBuilder()
    try:
        for pem in authorities:
            builder = builder.add_root_certificate(load_pem_x509_certificate(pem))
        builder.build().verify_message(response, _signature_bytes(envelope))
    except ValueError:
        return "the authorities' certificates cannot be parsed"
    except VerificationError as problem:
        return f"the authority is not one of the trusted ones ({problem})"
    return None


def _response(envelope: dict[str, Any]) -> TimeStampResponse | None:
    try:
        token = base64.b64decode(str(envelope["timestamp"]["token"]), validate=True)
        return decode_timestamp_response(with_sorted_certificates(token))
    except (binascii.Error, ValueError, KeyError, TypeError):
        return None


def _signature_bytes(envelope: dict[str, Any]) -> bytes:
    return base64.b64decode(str(envelope["signature"]["value"]))
