"""The result type of all data formats, and the digest of canonical parts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

from msgspec import Struct

from webstrata.observe.data.data_field import DataField


class DataDigest(Struct, frozen=True, kw_only=True, gc=False):
    """The canonical digest of a body of data, or why there is none."""

    kind: str
    """`graph`, `bindings`, `json`, `table`, `xml`, `feed`, `sitemap`, `spreadsheet`, `calendar`, `archive` or `svg`."""
    digest: str | None = None
    """SHA-256 (hex) of the canonical form. Equal digests mean equal data. None: compare the bytes."""
    note: str | None = None
    """Why there is no digest, or a remark about the digest."""
    size: int = 0
    """The number of triples, values, cells, elements, entries or members."""
    noise: tuple[str, ...] = ()
    """The members that were left out because they state when the document was generated."""
    read_fields: Callable[[], list[DataField]] | None = None
    """Computes the fields from what was parsed for the digest; None if that is parsed again (`fields.py`)."""


def digest_of(kind: str, parts: Iterable[bytes]) -> str:
    """SHA-256 of parts, each preceded by its length, so that different lists of parts give different input."""
    state = hashlib.sha256(kind.encode())
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.hexdigest()


def refused(kind: str, reason: object) -> DataDigest:
    """The result for a body that must be compared by its bytes. A long reason is cut: it may quote the body."""
    text = " ".join(str(reason).split())
    return DataDigest(kind=kind, note=text if len(text) <= _MAX_NOTE_LENGTH else text[:_MAX_NOTE_LENGTH] + "…")


_MAX_NOTE_LENGTH = 160
