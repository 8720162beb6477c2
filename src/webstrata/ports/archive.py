"""The archive ports: appending captures, reading them back, and the evidence for certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from webstrata.records import Capture, KeptRecord, Position, ResourceCapture


class StoredCapture(Protocol):
    """A capture read back from the archive."""

    @property
    def url(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def body(self) -> bytes:
        """The body as sent, with its content coding. For a revisit record, the body of the original."""
        ...


class Archive(Protocol):
    """Append-only captures. Captures are on the disk when `append` returns."""

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        """Write and sync; returns one position per capture, in order."""
        ...

    async def check_writable(self) -> None:
        """Raise ArchiveError, with what to do, if nothing can be appended now: ask before requesting pages."""
        ...

    async def read(self, position: Position) -> StoredCapture: ...

    async def close(self) -> None:
        """Finish the open file: it gets its final name and its index segment."""
        ...


class Evidence(Protocol):
    """The archive that a certificate refers to."""

    def faults(self) -> list[str]:
        """Inconsistencies within the package, one sentence each."""
        ...

    def digests(self) -> dict[str, str]:
        """Every file with its digest."""
        ...

    def kept(self) -> Iterator[KeptRecord | str]:
        """Every record; a sentence in place of a damaged one."""
        ...
