"""HTTP heads (start line and header fields) in archive records: written to agree with the body, parsed tolerantly.

Bodies are archived without their transfer coding. A head that still declares `Transfer-Encoding: chunked` would
contradict the body, so this field is renamed, and the length is corrected; all other bytes stay as received.
"""

from __future__ import annotations

import re

_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"[^ \n]*[ \t]+(\d{3})(?=[ \t\r\n]|\Z)")
_CONTENT_TYPE = re.compile(rb"\n[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Tt][Yy][Pp][Ee][ \t]*:[ \t]*([^;\s]*)")

_FRAMING = re.compile(rb"\n(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*(?=[\r\n]|\Z)", re.I)

_CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[^\n]*\n")

_RENAMED = b"X-Crawler-"

_BLANK = " \t\r\n\v\f"

# Responses that have no body, whatever their Content-Length is (RFC 9112, 6.3).
_BODILESS = frozenset({204, 304})


def archived_head(head: bytes, status: int | None, body_bytes: int) -> bytes:
    """The head as received, with the transfer coding renamed and the length of the archived body."""
    head = _closed(head)
    framing = _FRAMING.findall(head)
    lengths = [value for name, value in framing if name[:1] in b"cC"]
    if len(lengths) == len(framing) and (status in _BODILESS or lengths in ([], [b"%d" % body_bytes])):
        return head
    return _rewritten(head, body_bytes)


def _closed(head: bytes) -> bytes:
    """The head with exactly one empty line, at its end, so that all readers split it at the same byte."""
    match = _HEAD_END.search(head)
    if match and match.end() == len(head):
        return head
    lines = [line for line in _LINE.findall(head) if line.strip()]
    return b"".join(lines).removesuffix(b"\n").removesuffix(b"\r") + b"\r\n\r\n"


def _rewritten(head: bytes, body_bytes: int) -> bytes:
    """The head with the framing fields renamed and the actual length appended."""
    lines: list[bytes] = _LINE.findall(head)
    end = b"\r\n" if lines[0].endswith(b"\r\n") else b"\n"
    out = [lines[0]]
    for line in lines[1:]:
        if not line.strip():
            break
        # The received value is kept under a name that HTTP clients ignore.
        out.append(_RENAMED + line if _FRAMING.match(b"\n" + line) else line)
    return b"".join([*out, b"Content-Length: %d" % body_bytes, end, end])


def received_head(head: bytes) -> bytes:
    """The head as it was received: `archived_head` undone."""
    lines: list[bytes] = _LINE.findall(head)
    if not any(line[: len(_RENAMED)] == _RENAMED for line in lines):
        return head
    # The last field is the length that was appended.
    fields = [line for line in lines[1:] if line.strip()][:-1]
    end = b"\r\n" if lines[0].endswith(b"\r\n") else b"\n"
    return b"".join([lines[0], *(line.removeprefix(_RENAMED) for line in fields), end])


def split_head(block: bytes) -> tuple[bytes, bytes]:
    """(Head with its closing empty line, body). A block without an empty line is all head."""
    match = _HEAD_END.search(block)
    if not match:
        return block, b""
    return block[: match.end()], block[match.end() :]


def unchunked(body: bytes) -> bytes | None:
    """The body without chunked transfer coding; None if it is not chunked."""
    parts: list[bytes] = []
    at = 0
    while chunk := _CHUNK.match(body, at):
        size = int(chunk.group(1), 16)
        if size == 0:
            return b"".join(parts)
        end = chunk.end() + size
        parts.append(body[chunk.end() : end])
        at = end + (2 if body[end : end + 2] == b"\r\n" else 1)
    return None


def status_of(head: bytes) -> int | None:
    """The status code; None if this is not the head of a response."""
    match = _STATUS.match(head)
    return int(match.group(1)) if match and head[:5].upper() == b"HTTP/" else None


def media_type_of(head: bytes) -> str | None:
    """Content-Type without parameters, as received; None if there is no such field."""
    match = _CONTENT_TYPE.search(head)
    return decode_text(match.group(1)) if match else None


def parse_fields(head: bytes) -> tuple[tuple[str, str], ...]:
    """Name (lower case) and value of each field; folded lines are joined, lines without a colon are skipped."""
    fields: list[tuple[str, str]] = []
    for line in _lines(head)[1:]:
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip(_BLANK)}".strip(_BLANK))
            continue
        key, colon, rest = line.partition(":")
        if colon:
            fields.append((key.strip(_BLANK).lower(), rest.strip(_BLANK)))
    return tuple(fields)


def _lines(head: bytes) -> list[str]:
    try:
        return head.decode("utf-8").split("\n")  # the usual case: one call for all lines
    except UnicodeDecodeError:
        return [decode_text(line) for line in head.split(b"\n")]


def decode_text(raw: bytes) -> str:
    """Header bytes as text: UTF-8 if valid, else Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
