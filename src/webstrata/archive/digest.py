"""Digests as WARC headers write them: `sha1:` and base32, read in every common spelling."""

from __future__ import annotations

import hashlib
from base64 import b32decode, b32encode
from binascii import Error, unhexlify

_ALGORITHMS = {"sha1": 20, "sha256": 32, "sha512": 64, "md5": 16}


def sha1(*parts: bytes) -> str:
    """`sha1:` and base32 of the parts in a row."""
    state = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    return "sha1:" + b32encode(state.digest()).decode("ascii")


def matches(label: str, data: bytes) -> bool | None:
    """Does the digest fit the data? None where the label names no algorithm that we know or cannot be read."""
    name, _, text = label.partition(":")
    name = name.strip().lower().replace("-", "")
    size = _ALGORITHMS.get(name)
    wanted = _digest_bytes(text.strip(), size) if size else None
    if wanted is None:
        return None
    return hashlib.new(name, data, usedforsecurity=False).digest() == wanted


def _digest_bytes(text: str, size: int) -> bytes | None:
    try:
        if len(text) == 2 * size:
            return unhexlify(text)
        found = b32decode(text.upper() + "=" * (-len(text) % 8))
    except (Error, ValueError):
        return None
    return found if len(found) == size else None
