"""`HeadRecorder`: the head of a response, kept byte for byte and bounded, while a parser reads the same bytes."""

from __future__ import annotations

import re

from webstrata.fetch.http.failures import HeadTooLarge

_END = re.compile(rb"\r?\n\r?\n")
_INTERIM = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d\b")
"""100, 102, 103: an interim response. 101 is final, because no upgrade is ever requested."""
_FINAL = re.compile(rb"HTTP/1\.[01] [2-9]")
_WITHOUT_BODY = re.compile(rb"HTTP/1\.[01] (?:204|304)\b")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?(?=\n)")
_TRANSFER = re.compile(rb"\ntransfer-encoding[ \t]*:")


class HeadRecorder:
    """Records the head of one response."""

    def __init__(self, max_bytes: int, max_headers: int) -> None:
        self._max_bytes = max_bytes
        self._max_headers = max_headers
        self._collected = bytearray()
        self._dropped_bytes = 0
        self.head = b""
        """The head of the final response with its empty line, without interim responses (1xx); empty until complete."""

    @property
    def received(self) -> bool:
        """Whether any byte of the response has arrived."""
        return bool(self.head or self._collected or self._dropped_bytes)

    def feed(self, data: bytes) -> int | None:
        """Take received bytes until the head is complete.

        Returns how many of them follow the head, or None while it is incomplete; raises HeadTooLarge.
        """
        if not self._collected and not self._dropped_bytes and _FINAL.match(data):
            end = _END.search(data)
            if end is not None:  # the usual case: a final head in one piece
                self._finish(data[: end.end()])
                return len(data) - end.end()
        return self._feed_piece(data)

    def _feed_piece(self, data: bytes) -> int | None:
        collected = self._collected
        search_from = max(0, len(collected) - 3)
        collected += data
        while True:
            if not search_from:  # empty lines before a status line are ignored
                self._drop(len(collected) - len(collected.lstrip(b"\r\n")))
            end = _END.search(collected, search_from)
            if end is None:
                self._check(collected)
                return None
            if not _INTERIM.match(collected):
                self._finish(bytes(collected[: end.end()]))
                return len(collected) - end.end()
            self._drop(end.end())
            search_from = 0

    def body_length(self) -> int | None:
        """The length of the body if the head alone determines it, else None."""
        if _WITHOUT_BODY.match(self.head):
            return 0
        head = self.head.lower()
        lengths = _LENGTH.findall(head)
        if len(lengths) != 1 or _TRANSFER.search(head):
            return None
        return int(lengths[0])

    def _finish(self, head: bytes) -> None:
        self._check(head)
        self.head = head

    def _drop(self, count: int) -> None:
        del self._collected[:count]
        self._dropped_bytes += count
        self._check(b"")

    def _check(self, head: bytes | bytearray) -> None:
        if self._dropped_bytes + len(head) > self._max_bytes:
            raise HeadTooLarge(f"head longer than {self._max_bytes} bytes")
        if head.count(b"\n") - 2 > self._max_headers:
            raise HeadTooLarge(f"more than {self._max_headers} header lines")
