"""What one look at a body of data gives, whatever its format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct


class DataDigest(Struct, frozen=True, kw_only=True, gc=False):
    """The canonical digest of a body of data, or why there is none."""

    kind: str
    """`graph`, `bindings`, `json`, `table`, `xml`, `feed` or `sitemap`."""
    digest: str | None = None
    """SHA-256 (hex) of the canonical form. Equal: the same data. None: compare the bytes."""
    note: str | None = None
    """Why there is no digest, or what to know about the one there is."""
    size: int = 0
    """How many triples, values, cells, elements or entries were read."""
    noise: tuple[str, ...] = ()
    """What was left out because it says when the data were made, not what they are."""


def digest_of(kind: str, parts: Iterable[bytes]) -> str:
    """SHA-256 of parts, each with its length, so that no two lists of parts read the same."""
    made = hashlib.sha256(kind.encode())
    for part in parts:
        made.update(b"%d:" % len(part))
        made.update(part)
    return made.hexdigest()


def refused(kind: str, why: object) -> DataDigest:
    """A body that has to be compared by its bytes. What parsers say may quote the body: it is cut short."""
    text = " ".join(str(why).split())
    return DataDigest(kind=kind, note=text if len(text) <= _LONGEST_NOTE else text[:_LONGEST_NOTE] + "…")


_LONGEST_NOTE = 160
