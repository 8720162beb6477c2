"""The names of WARC files: prefix, time of creation, serial number and the name of the archiver that writes them.

This is the order that the WARC standard recommends. Names of two homes never meet, because node names differ; and a
name tells in whose archive the file is.
"""

from __future__ import annotations

import re

from webstrata.clock import digits14

_OWN = re.compile(r"webstrata-\d{14}-(?:large-)?\d{5,}-(?P<node>[A-Za-z0-9._-]+?)\.warc\.gz")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def warc_name(at: float, serial: int, node_name: str, *, is_large: bool = False) -> str:
    """The name of a file that this archiver creates now; `is_large`: for one body that was not held in memory."""
    kind = "large-" if is_large else ""
    return f"webstrata-{digits14(at)}-{kind}{serial:05d}-{_safe(node_name)}.warc.gz"


def is_written_by(file: str, node_name: str) -> bool:
    """Whether the name says that this archiver has written the file."""
    return writer_of(file) == _safe(node_name)


def writer_of(file: str) -> str | None:
    """The name of the archiver that has written the file; None if the name does not tell."""
    found = _OWN.fullmatch(file)
    return found["node"] if found is not None else None


def _safe(node_name: str) -> str:
    """The name with the characters that every file system allows; it does not begin with a dot."""
    return _UNSAFE.sub("_", node_name).lstrip(".") or "node"
