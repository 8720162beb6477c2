"""One JSON document `{"rows": […]}` that is written piece by piece, for reports on all pages of a home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from webstrata.cli.output import write_bytes


class JsonRows:
    """Writes rows to stdout, one a line."""

    def __init__(self) -> None:
        self._before = b'{"rows": [\n'

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the next rows."""
        for row in rows:
            write_bytes(self._before + msgspec.json.encode(row))
            self._before = b",\n"

    def close(self, **more: Any) -> None:
        """Write the end of the document, with further members."""
        end = b"".join(
            b", " + msgspec.json.encode(name) + b": " + msgspec.json.encode(value) for name, value in more.items()
        )
        begin = self._before if self._before.startswith(b"{") else b""
        write_bytes(begin + b"\n]" + end + b"}\n")
