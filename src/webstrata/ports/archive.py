"""The archive ports: appending captures, reading them back, and the evidence for certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from webstrata.records import Capture, KeptRecord, LargeBody, Position, ResourceCapture


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

    @property
    def large(self) -> LargeBody | None:
        """The body instead, if it is too large to be read into memory; `body` is then empty."""
        ...


class Archive(Protocol):
    """Append-only captures. Captures are on the disk when `append` returns."""

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        """Write and sync; returns one position per capture, in order."""
        ...

    async def append_large(self, capture: Capture) -> Position:
        """Write and sync a capture whose body is not in memory; batches that are appended meanwhile do not wait."""
        ...

    async def check_writable(self) -> None:
        """Raise ArchiveError, with what to do, if nothing can be appended now: ask before requesting pages."""
        ...

    async def read(self, position: Position) -> StoredCapture: ...

    async def close(self) -> None:
        """Finish the open file: it gets its final name and its index segment."""
        ...


class Evidence(Protocol):
    """The package of a capture, to which its certificate refers. It may be hostile: all that is read has limits."""

    def layout_faults(self) -> list[str]:
        """What is wrong with the structure of the package, one sentence each. Nothing is unpacked for it.

        If there is a fault, nothing of the rest may be relied on.
        """
        ...

    def sizes(self) -> dict[str, int]:
        """Every file with its size."""
        ...

    def digest(self, path: str) -> str:
        """`sha256:` and the digest of a file; empty if it cannot be read."""
        ...

    def read(self, path: str, max_bytes: int) -> bytes | None:
        """A file; None if it is missing, larger than that or cannot be read."""
        ...

    def lines(self, path: str, max_line_bytes: int) -> Iterator[bytes]:
        """The lines of a file, none of them longer than that: the rest of such a line is a line of its own."""
        ...

    def kept(self) -> Iterator[KeptRecord | str]:
        """Every record; a sentence in place of the records of a file from the first damaged one on."""
        ...

    def body(self, record: KeptRecord, max_bytes: int) -> bytes | None:
        """The payload of a record, as sent; None if it is larger than that or cannot be read."""
        ...

    def index_faults(self, lines: list[bytes]) -> list[str]:
        """Differences between the index of the package and these lines, one sentence each."""
        ...
