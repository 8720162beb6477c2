"""HTTP/1.1 on a socket, as much of it as visitors of recorded sites need: GET and HEAD, keep-alive, pipelines.

Written by hand because the demo lives two years in a minute: a request costs tens of microseconds here. Whatever is
not understood is answered with an error and a closed connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import cast

from webstrata.lab.livingweb.site import ServedResponse

Responder = Callable[[str, str, Mapping[str, str]], ServedResponse]
"""(host as sent, target, headers) -> answer."""

_HEAD_LIMIT = 16_384
_END_OF_HEAD = b"\r\n\r\n"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EMPTY_STATUSES = frozenset({HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT})


class _BadRequestError(Exception):
    def __init__(self, status: HTTPStatus) -> None:
        self.status = status


class ServerConnection(asyncio.Protocol):
    """One connection. Requests are answered in order, as they come; while the visitor does not read, they wait."""

    def __init__(self, respond: Responder, open_ones: set[ServerConnection]) -> None:
        self._respond = respond
        self._open_ones = open_ones
        self._buffer = b""
        self._lagging = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        self._open_ones.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_ones.discard(self)
        self._transport = None

    def pause_writing(self) -> None:
        self._lagging = True
        if self._transport:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._lagging = False
        if self._transport:
            self._transport.resume_reading()
            self._go_on()

    def hang_up(self) -> None:
        if self._transport:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._go_on()

    def _go_on(self) -> None:
        while self._transport and not self._transport.is_closing() and not self._lagging:
            end = self._buffer.find(_END_OF_HEAD)
            if (end if end >= 0 else len(self._buffer)) > _HEAD_LIMIT:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
            if end < 0:
                return
            head, self._buffer = self._buffer[:end], self._buffer[end + len(_END_OF_HEAD) :]
            try:
                self._converse(head)
            except _BadRequestError as bad:
                self._refuse(bad.status)

    def _converse(self, head: bytes) -> None:
        method, target, version, headers = _read_head(head)
        if method not in ("GET", "HEAD"):
            raise _BadRequestError(HTTPStatus.METHOD_NOT_ALLOWED)
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise _BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        answer = self._respond(headers["host"], target, headers)
        wish = headers.get("connection", "").lower()
        close = wish == "close" or (version == "HTTP/1.0" and wish != "keep-alive")
        self._write(answer, with_body=method == "GET", close=close)

    def _write(self, answer: ServedResponse, *, with_body: bool, close: bool) -> None:
        assert self._transport is not None
        lines = [f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        if answer.status not in _EMPTY_STATUSES:
            lines.append(f"Content-Length: {len(answer.body)}")
        if close:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1", "replace") + _END_OF_HEAD
        self._transport.write(head + answer.body if with_body else head)
        if close:
            self._transport.close()

    def _refuse(self, status: HTTPStatus) -> None:
        allow = (("Allow", "GET, HEAD"),) if status == HTTPStatus.METHOD_NOT_ALLOWED else ()
        self._write(ServedResponse(status=status, headers=allow), with_body=True, close=True)


def _read_head(head: bytes) -> tuple[str, str, str, dict[str, str]]:
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    method, target, version = parts
    if target.startswith("http://"):  # absolute form: allowed to any client (RFC 9112, 3.2.2)
        target = "/" + target[len("http://") :].partition("/")[2]
    if not target.startswith("/"):
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise _BadRequestError(HTTPStatus.BAD_REQUEST)
        headers[name.lower()] = value.strip(" \t")
    if "host" not in headers:
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    return method, target, version, headers
