"""Certificates of a time stamp response in DER order."""

from __future__ import annotations

import pytest

from webstrata.sharp.proof.timestamp import with_sorted_certificates


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes(2, "big")
    return bytes([tag, 0x82]) + size + content


def response(*certificates: bytes) -> bytes:
    """A time stamp response with these certificates."""
    held = [der(0xA0, *certificates)] if certificates else []
    signed = der(0x30, der(2, b"\3"), der(0x31), der(0x30, der(6, b"x")), *held, der(0x31, der(0x30, b"signer")))
    return der(0x30, der(0x30, der(2, b"\0")), der(0x30, der(6, b"oid"), der(0xA0, signed)))


ONE, TWO, THREE = der(0x30, b"a" * 200), der(0x30, b"b" * 200), der(0x30, b"c" * 90)


def test_members_are_sorted() -> None:
    """The certificates are sorted by their bytes; all other bytes stay."""
    assert with_sorted_certificates(response(TWO, THREE, ONE)) == response(*sorted((ONE, TWO, THREE)))
    assert with_sorted_certificates(response(ONE)) == response(ONE)
    assert with_sorted_certificates(response()) == response()


@pytest.mark.parametrize("data", [b"", b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\0" * 200, response(TWO, ONE)[:-5]])
def test_unparsable_data_stays(data: bytes) -> None:
    """Data that cannot be parsed is returned unchanged."""
    assert with_sorted_certificates(data) == data
