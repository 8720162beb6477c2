"""The head of an answer, kept byte for byte and bounded, while a parser reads the same bytes."""

from __future__ import annotations

import re

from webstrata.fetch.http.failures import HeadTooLarge

_END = re.compile(rb"\r?\n\r?\n")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d\b")
"""100, 102, 103: an answer before the answer. 101 is final: we never ask for an upgrade."""
_WHOLE_START = re.compile(rb"HTTP/1\.[01] [2-9]")
"""The usual case, worth a short way: a final answer whose head comes in one piece."""
_WITHOUT_BODY = re.compile(rb"HTTP/1\.[01] (?:204|304)\b")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?(?=\n)")
_TRANSFER = re.compile(rb"\ntransfer-encoding[ \t]*:")


class HeadKeeper:
    """Collects one head after another on a connection; `start` begins the next."""

    def __init__(self, max_bytes: int, max_headers: int) -> None:
        self._max_bytes = max_bytes
        self._max_headers = max_headers
        self._collected = bytearray()
        self._dropped = 0
        self.open = False
        """The end has not been seen yet."""
        self.head = b""
        """The final answer's, with its empty line; interim answers (1xx) are left out."""

    def start(self) -> None:
        self._collected.clear()
        self._dropped = 0
        self.open = True
        self.head = b""

    @property
    def received(self) -> bool:
        """Whether any byte of the present answer has come."""
        return bool(self.head or self._collected or self._dropped)

    def feed(self, data: bytes) -> int | None:
        """Take bytes; returns how many of them stand behind the head, None while it is still open."""
        if not self.received and _WHOLE_START.match(data) and (end := _END.search(data)) is not None:
            self._check(end.end())
            self._finish(data[: end.end()])
            return len(data) - end.end()
        return self._feed_piece(data)

    def _feed_piece(self, data: bytes) -> int | None:
        collected = self._collected
        seen = max(0, len(collected) - 3)
        collected += data
        while self.open:
            if not seen:  # empty lines before a status line mean nothing
                self._drop(len(collected) - len(collected.lstrip(b"\r\n")))
            end = _END.search(collected, seen)
            if end is None:
                self._check(len(collected))
                return None
            self._check(end.end())
            if _INTERIM.match(collected):
                self._drop(end.end())
                seen = 0
            else:
                self._finish(bytes(collected[: end.end()]))
                del collected[: end.end()]
        behind = len(collected)
        collected.clear()
        return behind

    def body_length(self) -> int | None:
        """Bytes that the finished head announces, or None where only the body itself can tell."""
        if _WITHOUT_BODY.match(self.head):
            return 0
        head = self.head.lower()
        lengths = _LENGTH.findall(head)
        if len(lengths) != 1 or _TRANSFER.search(head):
            return None
        return int(lengths[0])

    @property
    def has_too_many_lines(self) -> bool:
        return (self.head or self._collected).count(b"\n") - 2 > self._max_headers

    def _finish(self, head: bytes) -> None:
        self.head = head
        self.open = False
        if self.has_too_many_lines:
            raise HeadTooLarge(f"more than {self._max_headers} header lines")

    def _drop(self, count: int) -> None:
        del self._collected[:count]
        self._dropped += count

    def _check(self, size: int) -> None:
        if self._dropped + size > self._max_bytes:
            raise HeadTooLarge(f"head longer than {self._max_bytes} bytes")
