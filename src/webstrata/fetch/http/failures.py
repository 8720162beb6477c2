"""The errors of an HTTP exchange and the `FailureKind` that each of them is recorded as."""

from __future__ import annotations

import errno
from ssl import SSLError

from webstrata.records import Failure, FailureKind

_MAX_DETAIL = 300


class FetchError(Exception):
    """Base class of the errors that the HTTP client itself raises."""


class AddressBlocked(FetchError):  # noqa: N818 - the noun says it
    """The address guard forbids the address of a socket."""


class ConnectTimeout(FetchError):  # noqa: N818
    """No connection within the time limit for connecting."""


class ResponseTimeout(FetchError):  # noqa: N818
    """The server sent nothing for longer than `FetchLimits.first_byte_s` before the response head was complete."""


class TotalTimeout(FetchError):  # noqa: N818
    """The response head was not complete within the time limit for the whole exchange."""


class HeadTooLarge(FetchError):  # noqa: N818
    """The response head exceeds the limit of bytes or of lines."""


class NotHttp(FetchError):  # noqa: N818
    """The response is not a valid HTTP/1 response to the request."""


class LocalFault(FetchError):  # noqa: N818
    """This machine cannot open a connection, whatever the host is."""


class Unreachable(FetchError):  # noqa: N818
    """There is no route to the address of this host, while others may be reachable."""


class NotSent(FetchError):  # noqa: N818
    """The connection was closed before the request was sent."""


class ConnectionLost(FetchError):  # noqa: N818
    """The connection ended before the response head was complete."""

    def __init__(self, reason: str, *, stale: bool) -> None:
        super().__init__(reason)
        self.stale = stale
        """The connection was kept alive and no byte of this response arrived: the server had closed it while idle."""


LOCAL_ERRNOS = frozenset(
    [
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.EADDRNOTAVAIL,  # no free port
        errno.ENETDOWN,
        errno.ENETUNREACH,  # the pool tells an address without a route from a machine without one
    ]
)
"""Errors of the operating system that say nothing about the host."""

KINDS: tuple[tuple[type[BaseException], FailureKind], ...] = (
    (AddressBlocked, FailureKind.BLOCKED),
    (LocalFault, FailureKind.LOCAL),
    (Unreachable, FailureKind.CONNECT),
    (ConnectTimeout, FailureKind.TIMEOUT_CONNECT),
    (ResponseTimeout, FailureKind.TIMEOUT_FIRST_BYTE),
    (TotalTimeout, FailureKind.TIMEOUT_TOTAL),
    (HeadTooLarge, FailureKind.HEADERS_TOO_LARGE),
    (NotHttp, FailureKind.MALFORMED),
    (NotSent, FailureKind.RESET),
    (ConnectionLost, FailureKind.RESET),
    (SSLError, FailureKind.TLS),
    (ConnectionRefusedError, FailureKind.REFUSED),
    (ConnectionResetError, FailureKind.RESET),
    (OSError, FailureKind.CONNECT),
)
"""The first row whose class matches an error gives its kind. An error without a row is a defect (`INTERNAL`)."""


def failure_of(error: BaseException) -> Failure:
    """The failure that an error of the client, of the operating system or of TLS is recorded as."""
    kind = next((kind for error_class, kind in KINDS if isinstance(error, error_class)), FailureKind.INTERNAL)
    if is_local(error):
        kind = FailureKind.LOCAL
    text = " ".join(str(error).split())
    name = type(error).__name__
    return Failure(kind=kind, detail=f"{name}: {text}"[:_MAX_DETAIL] if text else name)


def is_local(error: BaseException | None) -> bool:
    """Whether an error of the operating system is a fault of this machine."""
    return isinstance(error, OSError) and not isinstance(error, SSLError) and error.errno in LOCAL_ERRNOS
