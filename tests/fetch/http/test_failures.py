"""Every error of an exchange is recorded as one kind of failure."""

from __future__ import annotations

import errno
import ssl

import pytest

from webstrata.fetch.http.failures import (
    KINDS,
    AddressBlocked,
    ConnectionLost,
    ConnectTimeout,
    FetchError,
    HeadTooLarge,
    LocalFault,
    NotHttp,
    NotSent,
    ResponseTimeout,
    TotalTimeout,
    Unreachable,
    failure_of,
)
from webstrata.records import FailureKind


def test_every_error_of_the_client_has_a_kind() -> None:
    """No error that the client raises is recorded as a defect."""
    assert set(FetchError.__subclasses__()) <= {error_class for error_class, _ in KINDS}


CASES: list[tuple[BaseException, FailureKind]] = [
    (AddressBlocked("10.0.0.1"), FailureKind.BLOCKED),
    (ConnectTimeout("no connection"), FailureKind.TIMEOUT_CONNECT),
    (ResponseTimeout("no data"), FailureKind.TIMEOUT_FIRST_BYTE),
    (TotalTimeout("no complete response"), FailureKind.TIMEOUT_TOTAL),
    (HeadTooLarge("long"), FailureKind.HEADERS_TOO_LARGE),
    (NotHttp("ICE"), FailureKind.MALFORMED),
    (ConnectionLost("closed", stale=False), FailureKind.RESET),
    (ConnectionRefusedError(111, "refused"), FailureKind.REFUSED),
    (ConnectionResetError(104, "reset"), FailureKind.RESET),
    (OSError(113, "no route to host"), FailureKind.CONNECT),
    (LocalFault("no socket"), FailureKind.LOCAL),
    (Unreachable("no route"), FailureKind.CONNECT),
    (NotSent("closed"), FailureKind.RESET),
    (OSError(errno.EMFILE, "too many open files"), FailureKind.LOCAL),
    (OSError(errno.ENFILE, "too many open files in system"), FailureKind.LOCAL),
    (OSError(errno.ENOBUFS, "no buffer space"), FailureKind.LOCAL),
    (OSError(errno.ENOMEM, "cannot allocate memory"), FailureKind.LOCAL),
    (OSError(errno.EADDRNOTAVAIL, "no free port"), FailureKind.LOCAL),
    (OSError(errno.ENETDOWN, "network is down"), FailureKind.LOCAL),
    (OSError(errno.ENETUNREACH, "network is unreachable"), FailureKind.LOCAL),
    (OSError(errno.EACCES, "denied by a firewall"), FailureKind.CONNECT),
    (TimeoutError(errno.ETIMEDOUT, "connection timed out"), FailureKind.CONNECT),
    (ssl.SSLError("handshake"), FailureKind.TLS),
    (ssl.SSLError(errno.ENOMEM, "an error of OpenSSL with the number of another"), FailureKind.TLS),
    (ssl.SSLCertVerificationError("expired"), FailureKind.TLS),
    (ValueError("a defect"), FailureKind.INTERNAL),
]


@pytest.mark.parametrize(("error", "kind"), CASES, ids=repr)
def test_kinds(error: BaseException, kind: FailureKind) -> None:
    """Each error has the kind that tells an operator where the problem is."""
    assert failure_of(error).kind is kind


def test_details_are_short_and_one_line() -> None:
    """Text that a server puts into an error can neither flood nor break a log."""
    failure = failure_of(NotHttp("a\r\nb\n" * 1000))
    assert len(failure.detail) <= 300
    assert "\n" not in failure.detail
    assert "\r" not in failure.detail
