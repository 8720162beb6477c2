"""Digests as WARC headers write them: `sha1:` and base32, read in every common spelling."""

from __future__ import annotations

import hashlib
from base64 import b32encode, b64encode, urlsafe_b64encode

_ALGORITHMS = frozenset({"sha1", "sha256", "sha512", "md5"})

# base32, ten bits at a time: the library's encoder takes longer than the digest of a small record.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [one + two for one in _LETTERS for two in _LETTERS]
_SHIFTS = tuple(range(150, -1, -10))


def sha1(*parts: bytes) -> str:
    """`sha1:` and base32 of the parts in a row."""
    state = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    number = int.from_bytes(state.digest(), "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def matches(label: str, data: bytes) -> bool | None:
    """Does the digest fit the data? None where the label names no algorithm that we know.

    Read as hex, base32 or base64 in either alphabet: writers differ, and only the bytes count.
    """
    name, _, value = label.partition(":")
    name = name.strip().lower().replace("-", "")
    if name not in _ALGORITHMS:
        return None
    wanted = hashlib.new(name, data, usedforsecurity=False).digest()
    spelt = value.strip()
    return spelt.rstrip("=").upper() == b32encode(wanted).decode().rstrip("=") or spelt in _spellings(wanted)


def _spellings(digest: bytes) -> set[str]:
    spelt = {b64encode(digest).decode(), urlsafe_b64encode(digest).decode()}
    return spelt | {text.rstrip("=") for text in spelt} | {digest.hex(), digest.hex().upper()}
