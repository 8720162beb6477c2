"""The certificates of a time stamp in the order that DER asks for.

Authorities send their chain as it leads upwards. DER wants the members of a set sorted, and a strict reader refuses
what is not. No signature covers that order, so it can be mended: the same bytes, certificate by certificate.
"""

from __future__ import annotations

from typing import NamedTuple

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
