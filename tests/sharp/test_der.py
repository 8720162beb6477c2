"""Sets of certificates in the order that DER asks for."""

from __future__ import annotations

import pytest

from webstrata.sharp.proof.timestamp import with_sorted_certificates


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + size + content


def answer(*certificates: bytes) -> bytes:
    """As an authority builds it, with these members of the set."""
    held = [der(0xA0, *certificates)] if certificates else []
    signed = der(0x30, der(2, b"\3"), der(0x31), der(0x30, der(6, b"x")), *held, der(0x31, der(0x30, b"signer")))
    return der(0x30, der(0x30, der(2, b"\0")), der(0x30, der(6, b"oid"), der(0xA0, signed)))


ONE, TWO, THREE = der(0x30, b"a" * 200), der(0x30, b"b" * 200), der(0x30, b"c" * 90)


def test_members_are_sorted() -> None:
    """Whatever the order, the members come out sorted by their bytes, and all else stays."""
    assert with_sorted_certificates(answer(TWO, THREE, ONE)) == answer(*sorted((ONE, TWO, THREE)))
    assert with_sorted_certificates(answer(ONE)) == answer(ONE)
    assert with_sorted_certificates(answer()) == answer()


@pytest.mark.parametrize("data", [b"", b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\0" * 200, answer(TWO, ONE)[:-5]])
def test_what_is_no_answer_stays(data: bytes) -> None:
    """What cannot be read is left as it came, for a stricter reader to refuse."""
    assert with_sorted_certificates(data) == data
