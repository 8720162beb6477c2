"""Digests as the indexes of archives write them."""

from __future__ import annotations

import hashlib
from base64 import b32encode

import pytest

from webstrata.digests import written_digest

SHA1 = hashlib.sha1(b"text", usedforsecurity=False)
SHA256 = hashlib.sha256(b"text")
MD5 = hashlib.md5(b"text", usedforsecurity=False)
BASE32 = b32encode(SHA1.digest()).decode()


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (BASE32, f"sha1:{BASE32}"),
        (f"sha1:{BASE32}", f"sha1:{BASE32}"),
        (f"SHA-1:{BASE32.lower()}", f"sha1:{BASE32}"),
        (f"sha1:{SHA1.hexdigest()}", f"sha1:{BASE32}"),
        (SHA1.hexdigest(), f"sha1:{BASE32}"),
        (MD5.hexdigest(), f"md5:{MD5.hexdigest()}"),
        (SHA256.hexdigest(), f"sha256:{SHA256.hexdigest()}"),
        (f"sha256:{SHA256.hexdigest().upper()}", f"sha256:{SHA256.hexdigest()}"),
        (f"sha-256:{b32encode(SHA256.digest()).decode()}", f"sha256:{SHA256.hexdigest()}"),
        ("blake3:0123456789abcdef", "blake3:0123456789abcdef"),
        ("sha1:short", None),
        (BASE32[:-1], None),
        (BASE32[:-1] + "0", None),
        ("http://example.org/", None),
        ("x" * 10_000, None),
    ],
)
def test_forms(text: str, digest: str | None) -> None:
    """One digest has one form, whatever the encoding of its writer; what is malformed has none."""
    assert written_digest(text) == digest
