"""The journal port: the events of a capture, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Journal(Protocol):
    """An append-only list of lines. Lines are on the disk when `append` returns."""

    def lines(self) -> list[bytes]:
        """The lines that an earlier run wrote."""
        ...

    async def append(self, lines: Sequence[bytes]) -> None: ...
