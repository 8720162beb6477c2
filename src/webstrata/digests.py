"""The digests that archives declare: in the encodings of their writers, and in the form in which they are compared."""

from __future__ import annotations

import re
from base64 import b32decode, b32encode, b64decode

Digest = tuple[str, bytes]
"""Algorithm and value."""

_DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha512": 64, "md5": 16}
_BASE32_SHA1 = re.compile("[A-Z2-7]{32}")
_HEX_MD5 = re.compile("[0-9a-fA-F]{32}")
_OTHER = re.compile("[a-z][a-z0-9-]{0,30}:[0-9A-Za-z+/=_-]{8,200}")
"""A digest by another algorithm: it is compared as it is written."""
_MAX_LABEL = 256


def parse_digest(label: str) -> Digest | None:
    """A digest from a record's header; None if its algorithm is not known. A malformed value is returned as empty.

    The value may be hex, base32 or base64 in either alphabet, because writers differ: its length tells which. A value
    without the name of its algorithm is taken as SHA-1.
    """
    name, colon, value = label.strip().rpartition(":")
    algorithm = name.strip().lower().replace("-", "") if colon else "sha1"
    size = _DIGEST_BYTES.get(algorithm)
    if size is None:
        return None
    value = value.strip().rstrip("=")
    try:
        if len(value) == 2 * size:
            return algorithm, bytes.fromhex(value)
        if len(value) == -(-8 * size // 5):
            return algorithm, b32decode(value.upper() + "=" * (-len(value) % 8))
        if len(value) == -(-8 * size // 6):
            plain = value.replace("-", "+").replace("_", "/")
            return algorithm, b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:  # also for characters that are not ASCII
        pass
    return algorithm, b""


def digest_text(digest: Digest) -> str:
    """A digest as pages and copies have it: `sha1:` and Base32, or another algorithm and hexadecimal digits."""
    algorithm, value = digest
    return f"sha1:{b32encode(value).decode()}" if algorithm == "sha1" else f"{algorithm}:{value.hex()}"


def written_digest(text: str) -> str | None:
    """The digest of a row of an index, as `digest_text` writes it; None if it is malformed.

    Old indexes have MD5 as 32 hexadecimal digits, which is as long as SHA-1 in Base32.
    """
    if _BASE32_SHA1.fullmatch(text):
        return f"sha1:{text}"
    if len(text) > _MAX_LABEL:
        return None
    label = f"md5:{text}" if _HEX_MD5.fullmatch(text) else text
    if ":" not in label and len(label) == 2 * _DIGEST_BYTES["sha256"]:
        label = f"sha256:{label}"
    digest = parse_digest(label)
    if digest is None:
        return label if _OTHER.fullmatch(label) else None
    return digest_text(digest) if digest[1] else None
