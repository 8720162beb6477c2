"""Check of the index of a capture's package: it must have exactly the lines of the records, in order."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, cast

import msgspec
from isal import igzip_lib

from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import sorted_segment

INDEX = "indexes/index.cdx.gz"
INDEX_OF_INDEX = "indexes/index.idx"
_MAX_SHOWN = 20
_INPUT_BYTES = 1 << 16
_ROOM_BYTES = 1 << 20
"""An index may be longer than the lines of the records by this size: enough to say which lines it has too much."""
_INFLATE_ERROR = cast("type[Exception]", igzip_lib.error)  # its stub calls the class an instance


def index_faults(index: bytes | None, blocks: bytes | None, lines: list[bytes]) -> list[str]:
    """Differences between an index (and the list of its blocks) and the lines that the records require."""
    if index is None or blocks is None:
        return ["the index is missing or too large"]
    expected = sorted_segment(lines)
    members = _members(index, len(expected) + _ROOM_BYTES)
    if members is None:
        return ["the index cannot be read, or is longer than its records require"]
    found = b"".join(data for _, _, data in members)
    faults = [] if found == expected else _line_faults(found, lines)
    return faults + _block_faults(blocks, members, index)


def _members(index: bytes, max_bytes: int) -> list[tuple[int, int, bytes]] | None:
    """(Offset, length, content) of each gzip member; None if there is more than that, or anything else."""
    members = []
    start = 0
    while start < len(index):
        engine = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        parts: list[bytes] = []
        at = start
        while not engine.eof:
            piece = index[at : at + _INPUT_BYTES] if engine.needs_input else b""
            if (engine.needs_input and not piece) or max_bytes < 0:
                return None
            at += len(piece)
            try:
                parts.append(engine.decompress(piece, max_bytes + 1))
            except _INFLATE_ERROR:
                return None
            max_bytes -= len(parts[-1])
        length = at - len(engine.unused_data) - start
        members.append((start, length, b"".join(parts)))
        start += length
    return None if max_bytes < 0 else members


def _line_faults(found: bytes, lines: list[bytes]) -> list[str]:
    """Which lines are wrong, and which are missing."""
    actual, expected = Counter(found.splitlines(keepends=True)), Counter(lines)
    faults = [f"a line of the index has no record: {_shown(line)}" for line in (actual - expected).elements()]
    faults += [f"a record has no line in the index: {_shown(line)}" for line in (expected - actual).elements()]
    if len(faults) > _MAX_SHOWN:
        faults = [*faults[:_MAX_SHOWN], f"and {len(faults) - _MAX_SHOWN} more lines of the index are wrong or missing"]
    return faults or ["the lines of the index are not in order"]


def _shown(line: bytes) -> str:
    entry = cdxj.parse(line)
    return f"{entry.url} {entry.timestamp}" if entry is not None else repr(line[:80])


def _block_faults(blocks: bytes, members: list[tuple[int, int, bytes]], index: bytes) -> list[str]:
    """The list of blocks must have one line for each gzip member: its first key, its offset and its length."""
    meta, *rows = blocks.splitlines() or [b""]
    if _parsed(meta) != ("!meta 0", {"format": "cdxj-gzip-1.0", "filename": INDEX.rpartition("/")[2]}):
        return ["the first line of the list of index blocks is wrong"]
    expected = []
    for offset, length, data in members:
        key = cdxj.sort_key(data.partition(b"\n")[0] + b" {").decode("ascii", "replace")
        expected.append((key, {"offset": offset, "length": length}))
    found = []
    for row, (offset, length, _) in zip(rows, members, strict=False):
        key, values = _parsed(row)
        digest = values.pop("digest", None)
        if digest is not None and digest != f"sha256:{hashlib.sha256(index[offset : offset + length]).hexdigest()}":
            return ["a digest in the list of index blocks is wrong"]
        found.append((key, values))
    if len(rows) != len(members) or found != expected:
        return ["the list of index blocks does not match the index"]
    return []


def _parsed(row: bytes) -> tuple[str, dict[str, Any]]:
    key, brace, rest = row.partition(b" {")
    try:
        return key.decode("ascii", "replace"), msgspec.json.decode(b"{" + rest, type=dict[str, Any]) if brace else {}
    except msgspec.DecodeError:
        return "", {}
