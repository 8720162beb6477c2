"""The port for the files of private keys."""

from __future__ import annotations

from typing import Protocol


class KeyFiles(Protocol):
    """Small secret files by name, which only their owner can read."""

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file. It is complete on the disk when this returns, or unchanged."""
        ...
