"""Every way in which an exchange can fail, translated to one of our own kinds.

The table is read from the top: the first class that an error is an instance of gives its kind. What has no row is
our own fault (`INTERNAL`).
"""

from __future__ import annotations

from socket import gaierror
from ssl import SSLError

import aiohttp

from webstrata.records import Failure, FailureKind

_LONGEST_DETAIL = 300


class AddressBlocked(aiohttp.ClientError):
    """A socket was about to be connected to an address that the guard forbids."""


class HeadTooLarge(aiohttp.ClientError):
    """The answer's head passed a limit before it ended."""


class NotHttp(aiohttp.ClientError):
    """The answer is none that HTTP/1 knows."""


class ConnectionLost(aiohttp.ClientError):
    """The connection ended before the answer's head did."""

    def __init__(self, why: BaseException, *, stale: bool) -> None:
        super().__init__(str(why))
        self.stale = stale
        """It had served before and sent no byte of this answer: the server had closed it while it was idle."""


KINDS: tuple[tuple[type[BaseException], FailureKind], ...] = (
    (AddressBlocked, FailureKind.BLOCKED),
    (HeadTooLarge, FailureKind.HEADERS_TOO_LARGE),
    (NotHttp, FailureKind.MALFORMED),
    (ConnectionLost, FailureKind.RESET),
    # connecting
    (aiohttp.ClientSSLError, FailureKind.TLS),
    (aiohttp.ServerFingerprintMismatch, FailureKind.TLS),
    (SSLError, FailureKind.TLS),
    (aiohttp.ClientConnectorDNSError, FailureKind.DNS),
    (gaierror, FailureKind.DNS),
    (aiohttp.ClientConnectorError, FailureKind.CONNECT),
    # waiting
    (aiohttp.ConnectionTimeoutError, FailureKind.TIMEOUT_CONNECT),
    (aiohttp.SocketTimeoutError, FailureKind.TIMEOUT_FIRST_BYTE),
    (TimeoutError, FailureKind.TIMEOUT_TOTAL),
    # reading
    (aiohttp.InvalidURL, FailureKind.BAD_URL),
    (aiohttp.NonHttpUrlClientError, FailureKind.BAD_URL),
    (aiohttp.RedirectClientError, FailureKind.REDIRECTS),
    (aiohttp.TooManyRedirects, FailureKind.REDIRECTS),
    (aiohttp.ClientResponseError, FailureKind.MALFORMED),
    (aiohttp.ClientPayloadError, FailureKind.MALFORMED),
    (aiohttp.WSMessageTypeError, FailureKind.MALFORMED),
    (aiohttp.http_exceptions.HttpProcessingError, FailureKind.MALFORMED),
    (aiohttp.ClientConnectionError, FailureKind.RESET),
    (ConnectionRefusedError, FailureKind.REFUSED),
    (ConnectionResetError, FailureKind.RESET),
    (OSError, FailureKind.CONNECT),
    (aiohttp.ClientError, FailureKind.CONNECT),
)


def failure_of(error: BaseException) -> Failure:
    """The outcome that stands for an error of aiohttp, of the system or of TLS."""
    if type(error) is aiohttp.ClientConnectorError:
        error = error.os_error
    for kind_of_error, kind in KINDS:
        if isinstance(error, kind_of_error):
            return Failure(kind=kind, detail=_detail(error))
    return Failure(kind=FailureKind.INTERNAL, detail=_detail(error))


def _detail(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    name = type(error).__name__
    return f"{name}: {text}"[:_LONGEST_DETAIL] if text else name
