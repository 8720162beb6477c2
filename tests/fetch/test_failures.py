"""Every error has one kind of outcome."""

from __future__ import annotations

import inspect
import socket
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp import client_exceptions, http_exceptions

from webstrata.fetch.http.failures import KINDS, AddressBlocked, ConnectionLost, HeadTooLarge, NotHttp, failure_of
from webstrata.records import FailureKind


def _errors_of(module: Any) -> list[type[BaseException]]:
    found = (value for _, value in inspect.getmembers(module, inspect.isclass))
    return [value for value in found if issubclass(value, BaseException) and value.__module__ == module.__name__]


@pytest.mark.parametrize("error", [*_errors_of(client_exceptions), *_errors_of(http_exceptions)])
def test_every_client_error_of_aiohttp_has_a_home(error: type[BaseException]) -> None:
    """No error that aiohttp's client knows would be taken for our own fault."""
    assert any(issubclass(error, known) for known, _ in KINDS)


def _connector_error(reason: OSError) -> aiohttp.ClientConnectorError:
    key: Any = aiohttp.client_reqrep.ConnectionKey("example.org", 80, False, True, None, None, None)
    return aiohttp.ClientConnectorError(key, reason)


CASES: list[tuple[BaseException, FailureKind]] = [
    (AddressBlocked("10.0.0.1"), FailureKind.BLOCKED),
    (HeadTooLarge("long"), FailureKind.HEADERS_TOO_LARGE),
    (NotHttp("ICE"), FailureKind.MALFORMED),
    (ConnectionLost(OSError("gone"), stale=False), FailureKind.RESET),
    (_connector_error(ConnectionRefusedError(111, "refused")), FailureKind.REFUSED),
    (_connector_error(ConnectionResetError(104, "reset")), FailureKind.RESET),
    (_connector_error(OSError(113, "no route to host")), FailureKind.CONNECT),
    (_connector_error(ssl.SSLError("handshake")), FailureKind.TLS),
    (socket.gaierror(-2, "unknown"), FailureKind.DNS),
    (aiohttp.ConnectionTimeoutError(), FailureKind.TIMEOUT_CONNECT),
    (aiohttp.SocketTimeoutError(), FailureKind.TIMEOUT_FIRST_BYTE),
    (TimeoutError(), FailureKind.TIMEOUT_TOTAL),
    (aiohttp.ServerDisconnectedError(), FailureKind.RESET),
    (aiohttp.ClientOSError(104, "reset"), FailureKind.RESET),
    (aiohttp.ClientPayloadError("chunk"), FailureKind.MALFORMED),
    (aiohttp.InvalidURL("x"), FailureKind.BAD_URL),
    (http_exceptions.BadStatusLine("x"), FailureKind.MALFORMED),
    (ValueError("ours"), FailureKind.INTERNAL),
]


@pytest.mark.parametrize(("error", "kind"), CASES, ids=repr)
def test_kinds(error: BaseException, kind: FailureKind) -> None:
    """Each error becomes the kind that tells an operator where to look."""
    assert failure_of(error).kind is kind


def test_details_are_short_and_one_line() -> None:
    """What a server makes an error say cannot flood or break a log."""
    failure = failure_of(aiohttp.ClientPayloadError("a\r\nb\n" * 1000))
    assert len(failure.detail) <= 300
    assert "\n" not in failure.detail
    assert "\r" not in failure.detail
