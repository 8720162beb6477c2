"""The certificates of a time stamp in the order that DER asks for.

Authorities send their chain as it leads upwards. DER wants the members of a set sorted, and a strict reader refuses
what is not. No signature covers that order, so it can be mended: the same bytes, certificate by certificate.

RFC 3161 time stamps: what to ask a time stamp authority, and what its answer says.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from webstrata.clock import iso
from webstrata.errors import UsageError

_CERTIFICATES = 0xA0
_TOKEN, _SIGNED, _MOST = 1, 1, 64


class DerElement(NamedTuple):
    """Where one element lies in the bytes: from its tag to its end, and where its content begins."""

    tag: int
    start: int
    content: int
    end: int


def with_sorted_certificates(answer: bytes) -> bytes:
    """The same answer of a time stamp authority (RFC 3161), its set of certificates sorted; as it came where it cannot
    be read so far."""
    try:
        (whole,) = _within(answer, 0, len(answer))
        token = _children(answer, whole)[_TOKEN]
        (signed,) = _children(answer, _children(answer, token)[_SIGNED])
        held = next((one for one in _children(answer, signed) if one.tag == _CERTIFICATES), None)
        if held is None:
            return answer
        members = sorted(answer[one.start : one.end] for one in _children(answer, held))
    except (ValueError, IndexError):
        return answer
    return answer[: held.content] + b"".join(members) + answer[held.end :]


def _children(data: bytes, parent: DerElement) -> list[DerElement]:
    return _within(data, parent.content, parent.end)


def _within(data: bytes, start: int, end: int) -> list[DerElement]:
    """The elements that lie there in a row."""
    found: list[DerElement] = []
    while start < end:
        more = data[start + 1] & 0x7F if data[start + 1] & 0x80 else 0
        content = start + 2 + more
        last = content + (int.from_bytes(data[start + 2 : content], "big") if more else data[start + 1])
        if last > end or len(found) >= _MOST:
            raise ValueError("not DER")
        found.append(DerElement(data[start], start, content, last))
        start = last
    return found


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
ANSWER_TYPE = "application/timestamp-reply"


def request(envelope: dict[str, Any]) -> bytes:
    """What is sent to the authority: a digest of the signature, nothing of the capture."""
    builder = TimestampRequestBuilder().data(_stamped(envelope)).hash_algorithm(HashAlgorithm.SHA256)
    return bytes(builder.nonce(nonce=True).cert_request(cert_request=True).build().as_bytes())


def stamped(envelope: dict[str, Any], answer: bytes, authority: str) -> dict[str, Any]:
    """The envelope with the authority's answer; UsageError where that is none, or not for this signature."""
    with_stamp = envelope | {"timestamp": {"authority": authority, "token": base64.b64encode(answer).decode()}}
    fault = timestamp_fault(with_stamp)
    if fault is not None:
        raise UsageError(f"{authority} gave no time stamp: {fault}.")
    return with_stamp


def timestamp_fault(envelope: dict[str, Any], authorities: Sequence[bytes] = ()) -> str | None:
    """What is wrong with the time stamp, if anything.

    `authorities`: root certificates (PEM) that it must lead back to; without any, only that it is for this signature.
    """
    answer = _answer(envelope)
    if answer is None:
        return "the time stamp cannot be read"
    if PKIStatus(answer.status) not in (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS):
        return "the authority refused"
    if bytes(answer.tst_info.message_imprint.message) != hashlib.sha256(_stamped(envelope)).digest():
        return "the time stamp is for another signature"
    return _authority_fault(answer, envelope, authorities) if authorities else None


def stamped_at(envelope: dict[str, Any]) -> str | None:
    """The time that the authority attests."""
    answer = _answer(envelope)
    return None if answer is None else iso(answer.tst_info.gen_time.timestamp())


def _authority_fault(answer: TimeStampResponse, envelope: dict[str, Any], authorities: Sequence[bytes]) -> str | None:
    builder = VerifierBuilder()
    try:
        for pem in authorities:
            builder = builder.add_root_certificate(load_pem_x509_certificate(pem))
        builder.build().verify_message(answer, _stamped(envelope))
    except ValueError:
        return "the authorities' certificates cannot be read"
    except VerificationError as problem:
        return f"the authority is none of those trusted ({problem})"
    return None


def _answer(envelope: dict[str, Any]) -> TimeStampResponse | None:
    try:
        token = base64.b64decode(str(envelope["timestamp"]["token"]), validate=True)
        return decode_timestamp_response(with_sorted_certificates(token))
    except (binascii.Error, ValueError, KeyError, TypeError):
        return None


def _stamped(envelope: dict[str, Any]) -> bytes:
    return base64.b64decode(str(envelope["signature"]["value"]))
