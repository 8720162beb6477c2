"""A source of copies: a file of another archive's index, its server, or its WARC files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from webstrata.records import ReadBatch


class CopySource(Protocol):
    """Copies of pages that can be read in order, and from any position that an earlier batch named."""

    @property
    def key(self) -> str:
        """What is read, so that an import can continue: the kind, the path or URL, and of a file its size and a digest
        of its beginning."""
        ...

    def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        """Read on from a position in batches of a few thousand rows; memory does not grow with the source."""
        ...
