"""An HTTP/1.1 server connection with GET and HEAD, keep-alive and pipelining.

It replaces a server library because the demo makes the requests of two years in a minute: a request costs tens of
microseconds here. A request that is not understood gets an error status, and the connection is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import cast

from webstrata.lab.livingweb.site import ServedResponse

Responder = Callable[[str, str, Mapping[str, str]], ServedResponse]
"""(host as sent, target, headers) -> response."""

_HEAD_LIMIT = 16_384
_END_OF_HEAD = b"\r\n\r\n"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_EMPTY_STATUSES = frozenset({HTTPStatus.NOT_MODIFIED, HTTPStatus.NO_CONTENT})


class _BadRequestError(Exception):
    def __init__(self, status: HTTPStatus) -> None:
        self.status = status


class ServerConnection(asyncio.Protocol):
    """One connection. Requests are answered in order; while the client does not read, further requests wait."""

    def __init__(self, respond: Responder, connections: set[ServerConnection]) -> None:
        """`connections` is the server's set of open connections; this one adds and removes itself."""
        self._respond = respond
        self._connections = connections
        self._buffer = b""
        self._writing_paused = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's class does not inherit from it
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._transport = None

    def pause_writing(self) -> None:
        self._writing_paused = True
        if self._transport:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._writing_paused = False
        if self._transport:
            self._transport.resume_reading()
            self._process_buffer()

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._process_buffer()

    def _process_buffer(self) -> None:
        while self._transport and not self._transport.is_closing() and not self._writing_paused:
            end = self._buffer.find(_END_OF_HEAD)
            if (end if end >= 0 else len(self._buffer)) > _HEAD_LIMIT:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
            if end < 0:
                return
            head, self._buffer = self._buffer[:end], self._buffer[end + len(_END_OF_HEAD) :]
            try:
                self._handle(head)
            except _BadRequestError as error:
                self._refuse(error.status)

    def _handle(self, head: bytes) -> None:
        method, target, version, headers = _parse_head(head)
        if method not in ("GET", "HEAD"):
            raise _BadRequestError(HTTPStatus.METHOD_NOT_ALLOWED)
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise _BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        response = self._respond(headers["host"], target, headers)
        if not response.status:
            self.close()
            return
        connection = headers.get("connection", "").lower()
        close = connection == "close" or (version == "HTTP/1.0" and connection != "keep-alive")
        self._write(response, with_body=method == "GET", close=close)

    def _write(self, response: ServedResponse, *, with_body: bool, close: bool) -> None:
        assert self._transport is not None
        lines = [f"HTTP/1.1 {response.status} {_PHRASES.get(response.status, '')}"]
        lines += [f"{name}: {value}" for name, value in response.headers]
        if response.status not in _EMPTY_STATUSES:
            lines.append(f"Content-Length: {len(response.body)}")
        if close:
            lines.append("Connection: close")
        head = "\r\n".join(lines).encode("latin-1", "replace") + _END_OF_HEAD
        self._transport.write(head + response.body if with_body else head)
        if close:
            self._transport.close()

    def _refuse(self, status: HTTPStatus) -> None:
        allow = (("Allow", "GET, HEAD"),) if status == HTTPStatus.METHOD_NOT_ALLOWED else ()
        self._write(ServedResponse(status=status, headers=allow), with_body=True, close=True)


def _parse_head(head: bytes) -> tuple[str, str, str, dict[str, str]]:
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise _BadRequestError(HTTPStatus.BAD_REQUEST)
    method, target, version = parts
    if target.startswith("http://"):  # absolute form, which any client may send (RFC 9112, 3.2.2)
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
