"""`ResponseParser`: received bytes to one `Response`, within limits and without I/O.

llhttp (through `httptools`) parses the bytes. This module adds what it does not do: the head is kept byte for byte,
bytes that follow the announced body never reach the parser, and a head that can be parsed in two ways is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Literal, NamedTuple, Protocol

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from webstrata.fetch.http.failures import FetchError, HeadTooLarge, NotHttp, failure_of
from webstrata.fetch.http.head import HeadRecorder
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Failure

_SWITCHING_PROTOCOLS = 101
_FRAMING_PER_BYTE = 8
"""Chunks of one byte, which some servers send, have five to seven bytes of framing each."""
_LARGE_BYTES = 1_000_000


class BodySink(Protocol):
    """Takes the parts of a body that is too large for memory."""

    def add(self, parts: Sequence[bytes]) -> None: ...


OpenSink = Callable[[int], BodySink]
"""Receives the size that the head announces, or what has arrived so far."""


class Response(NamedTuple):
    """One response; its body is without transfer coding."""

    status: int
    head: bytes
    """Status line and headers as received, with the empty line."""
    headers: tuple[tuple[str, str], ...]
    """Names in lower case; order and repetition as received."""
    body: bytes
    """Empty if the body is in a sink."""
    truncated: Literal["length", "time", "disconnect"] | None
    failure: Failure | None


class ResponseParser:
    """Parses the response to one request. Feed it until `done`; the outcome is then in `response` or `error`."""

    def __init__(self, limits: FetchLimits, open_sink: OpenSink | None = None) -> None:
        """`open_sink`: a successful response whose body is longer than `memory_bytes` goes there."""
        self._limits = limits
        self._open_sink = open_sink
        self._max_bytes = min(limits.body_bytes, limits.memory_bytes)
        self.sink: BodySink | None = None
        """Has the body, or what arrived of it, instead of `response`."""
        self._recorder = HeadRecorder(limits.header_bytes, limits.header_count)
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        # Accept folded lines and control characters in header values, bare line feeds, and spaces after a chunk size.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._has_head = False
        self._is_complete = False
        self._keep_alive = False
        self._parts: list[bytes] = []
        self._large: BytesIO | None = None
        """The body instead of `_parts` once it is large: it grows in place and is returned without a copy."""
        self.body_bytes = 0
        """Received so far."""
        self._announced_bytes: int | None = None
        """The length of the body, where the head announces it."""
        self._expected_bytes: int | None = None
        """Bytes of the body still to be received, where the head announces its length."""
        self._received_bytes = 0
        """Every byte of the response as it came: interim responses, head, chunk sizes, extensions, body, trailers."""
        self.done = False
        self.response: Response | None = None
        self.error: FetchError | None = None
        """Set instead of `response` if the response failed before its head was complete."""
        self.reusable = False
        """The response is complete and the connection can carry another request."""

    @property
    def received(self) -> bool:
        """Whether any byte of the response has arrived."""
        return self._recorder.received

    @property
    def max_body_bytes(self) -> int:
        """The largest size that the body can have in memory: the announced length or the limit."""
        limit = min(self._max_bytes, self._limits.memory_bytes)
        return limit if self._announced_bytes is None else min(self._announced_bytes, limit)

    def feed(self, data: bytes) -> None:
        """Parse received bytes. Not to be called once `done`."""
        assert self._parser is not None
        had_head = self._has_head
        piece_bytes = len(data)
        self._received_bytes += piece_bytes
        try:
            data = self._without_excess(data)
            self._parser.feed_data(data)
        except HeadTooLarge as error:
            self._fail(error)
            return
        except HttpParserUpgrade:
            pass  # status 101: refused below
        except HttpParserError as error:
            if not self._is_complete:
                self._fail(NotHttp(str(error)))
                return
            self._keep_alive = False  # bytes follow the response
        if not self._has_head:
            if self._received_bytes > self._limits.header_bytes:  # the parser sees no head where the recorder sees one
                self._fail(HeadTooLarge(f"head longer than {self._limits.header_bytes} bytes"))
            return
        if not had_head and (reason := self._refusal()):
            self._parts.clear()
            self.body_bytes = 0
            self._finish(failure=failure_of(NotHttp(reason)))
        elif self._is_complete:
            self._finish(reusable=self._keep_alive and len(data) == piece_bytes)
        elif self.body_bytes > self._max_bytes:
            self._finish("length")
        elif self._received_bytes > self._allowed_bytes():
            self._finish(failure=failure_of(NotHttp("chunk extensions or trailers that are too long")))
        elif self._is_large():
            self._spill()
        elif self.body_bytes > _LARGE_BYTES:
            self._join()

    def end(self, error: BaseException | None, lost: FetchError) -> None:
        """The connection ended, with `error` or in order; `lost` is the outcome if the head is incomplete."""
        if not self._has_head:
            self._fail(lost)
        elif error is not None or self._has_framing():
            self._finish("disconnect")
        else:
            self._finish()

    def expire(self, error: FetchError) -> None:
        """A time limit passed; `error` is the outcome if the head is incomplete, else the body is truncated."""
        if self._has_head:
            self._finish("time")
        else:
            self._fail(error)

    def refuse(self, failure: Failure) -> None:
        """The body cannot be stored: the response has this failure, and no body."""
        self.sink = None
        self._parts.clear()
        self.body_bytes = 0
        self._finish("length", failure)

    def release(self) -> None:
        """Drop the parser, which refers to this object, and the buffers of the body."""
        self._parser = self._large = None
        self._parts.clear()

    # ── callbacks of httptools ──────────────────────────────────────────────────────────────────────────────

    def on_message_begin(self) -> None:
        if self._is_complete:
            raise NotHttp("another response follows")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # else it is a trailer
            self._headers.append((_name(name), _text(value.rstrip(b" \t"))))

    def on_headers_complete(self) -> None:
        parser = self._parser
        assert parser is not None
        self._status = parser.get_status_code()
        if self._status < 200 and self._status != _SWITCHING_PROTOCOLS:
            self._headers.clear()
            return
        self._has_head = True
        self._keep_alive = parser.should_keep_alive()
        if self._open_sink is not None and 200 <= self._status < 300:
            self._max_bytes = self._limits.body_bytes

    def on_body(self, data: bytes) -> None:
        self._parts.append(data)
        self.body_bytes += len(data)

    def on_message_complete(self) -> None:
        self._is_complete = self._has_head

    # ── rules ───────────────────────────────────────────────────────────────────────────────────────────────

    def _without_excess(self, data: bytes) -> bytes:
        """The data without the bytes that exceed the announced length, which belong to no response."""
        body_bytes: int | None = len(data)
        if not self._recorder.head:
            body_bytes = self._recorder.feed(data)
            self._announced_bytes = None if body_bytes is None else self._recorder.body_length()
            self._expected_bytes = self._announced_bytes
        if self._expected_bytes is None or body_bytes is None:
            return data
        excess = body_bytes - self._expected_bytes
        self._expected_bytes = max(0, -excess)
        return data if excess <= 0 else data[:-excess]

    def _refusal(self) -> str | None:
        """Why a head that the parser accepts is not one of a response to a GET or POST over HTTP/1; None if it is."""
        head = self._recorder.head
        if self._status == _SWITCHING_PROTOCOLS:
            return "status 101 although no upgrade was requested"
        if not head.startswith(b"HTTP/1.") or head[9:12] != b"%d" % self._status or b"\0" in head:
            return "head that can be parsed in two ways"
        return None

    def _allowed_bytes(self) -> int:
        """How many bytes the whole response may have had so far.

        The head (interim responses included) and what frames the body may have `header_bytes` each. In addition, each
        byte of the body may be accompanied by `_FRAMING_PER_BYTE` bytes of framing, up to the limit of the body in all.
        Hence a response ends after at most twice the limits of head and body, and one that sends no body after twice
        the limit of its head.
        """
        framing_bytes = min(_FRAMING_PER_BYTE * self.body_bytes, self._max_bytes)
        return 2 * self._limits.header_bytes + self.body_bytes + framing_bytes

    def _has_framing(self) -> bool:
        """Whether the head announces where the body ends; otherwise it ends with the connection."""
        for name, value in reversed(self._headers):
            if name == "transfer-encoding":
                return value.lower().rpartition(",")[2].strip() == "chunked"
            if name == "content-length":
                return True
        return False

    def _fail(self, error: FetchError) -> None:
        if self._has_head:
            self._finish(failure=failure_of(error))
            return
        self.error = error
        self.done = True

    def _finish(
        self,
        truncated: Literal["length", "time", "disconnect"] | None = None,
        failure: Failure | None = None,
        reusable: bool = False,
    ) -> None:
        if self.body_bytes > self._max_bytes:
            truncated = truncated if failure is not None else "length"
        if self._is_large():
            self._spill()
        body = self._body()
        self.response = Response(self._status, self._recorder.head, tuple(self._headers), body, truncated, failure)
        self.reusable = reusable
        self.done = True

    def _is_large(self) -> bool:
        """Whether the body goes to a file: its head announces a large one, or as much has arrived."""
        limit = self._limits.memory_bytes
        if self._max_bytes <= limit or not self.body_bytes:
            return False
        return self.sink is not None or max(self.body_bytes, self._announced_bytes or 0) > limit

    def _spill(self) -> None:
        """Pass what has arrived to the sink, up to the limit."""
        if self.sink is None:
            assert self._open_sink is not None
            self.sink = self._open_sink(min(max(self._announced_bytes or 0, self.body_bytes), self._max_bytes))
        if self._large is not None:
            self._join()
            self._parts, self._large = [self._large.getvalue()], None
        excess = self.body_bytes - self._max_bytes
        while excess > 0 and self._parts:
            last = self._parts.pop()
            if len(last) > excess:
                self._parts.append(last[:-excess])
            excess -= len(last)
        self.sink.add(self._parts)
        self._parts = []

    def _body(self) -> bytes:
        limit = self._max_bytes
        if self._large is None:
            body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            return body if len(body) <= limit else body[:limit]
        self._join()
        self._large.truncate(min(self.body_bytes, limit))
        return self._large.getvalue()

    def _join(self) -> None:
        """Move the parts of a large body into one buffer."""
        if self._large is None:
            self._large = BytesIO()
        self._large.writelines(self._parts)
        self._parts.clear()


@lru_cache(maxsize=1024)
def _name(raw: bytes) -> str:
    return _text(raw).lower()


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
