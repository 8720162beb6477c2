"""How much of a server's answer is taken, and for how long it is waited for.

The request that a permit becomes: where it connects, what it sends, byte for byte.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from webstrata.records import Failure, FailureKind, Permit, PostBody, Validators


class FetchLimits(Struct, frozen=True, kw_only=True):
    """Bounds of one exchange. Times are real time, whatever clock the schedule lives by."""

    header_bytes: int = 64 * 1024
    """Status line and headers together; a longer head is refused."""
    header_count: int = 128
    body_bytes: int = 100_000_000
    """Body as sent, content coding included; a longer one is cut and marked."""
    connect_s: float = 20.0
    """For the connection, TLS included; also for a name's address."""
    first_byte_s: float = 60.0
    """Longest silence: before the first byte of the answer, and between any two parts of it."""
    total_s: float = 300.0
    """For the whole exchange."""


ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_URL = re.compile(r"(https?)://((?:[a-zA-Z0-9._~!$&'()*+,;=%-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?)(/[!-\"$-~]*)")
"""Scheme, authority and target of a canonical URL: visible ASCII only; credentials have no place in one."""
_FIELD_VALUE = re.compile(r"[\x20-\x7e]*")


class ConnectionTarget(NamedTuple):
    """Where a connection leads."""

    address: str
    port: int
    server_name: str
    """The URL's host: for TLS, and to keep other hosts at this address off the connection."""
    tls: bool


class HttpRequest(NamedTuple):
    """A request ready to be sent."""

    target: ConnectionTarget
    """The permit's address and port, whatever the URL's host may mean elsewhere."""
    head: bytes
    """Request line and headers as they are sent."""
    body: bytes = b""


def request_of(
    permit: Permit, accept: str, validators: Validators | None, posted: PostBody | None = None
) -> HttpRequest | Failure:
    """Translate a permit; refuses what could smuggle a second line or a second target into the request."""
    match = _URL.fullmatch(permit.url)
    if match is None:
        return Failure(kind=FailureKind.BAD_URL, detail=f"not a URL that can be asked for: {permit.url[:200]!r}")
    scheme, authority, path = match.groups()
    fields = [
        ("Host", authority),
        ("User-Agent", permit.agent),
        ("Accept", accept),
        ("Accept-Encoding", ACCEPT_ENCODING),
        *_condition(validators),
    ]
    if posted is not None:
        fields += [("Content-Type", posted.content_type), ("Content-Length", str(len(posted.body)))]
    for name, value in fields:
        if _FIELD_VALUE.fullmatch(value) is None:
            return Failure(kind=FailureKind.BAD_URL, detail=f"{name} holds more than plain text: {value[:200]!r}")
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields])
    return HttpRequest(
        target=ConnectionTarget(permit.address, permit.port, _host(authority), scheme == "https"),
        head=f"{'GET' if posted is None else 'POST'} {path} HTTP/1.1\r\n{lines}\r\n".encode("ascii"),
        body=b"" if posted is None else posted.body,
    )


def _host(authority: str) -> str:
    if authority.startswith("["):
        return authority[1 : authority.index("]")]
    return authority.partition(":")[0]


def _condition(validators: Validators | None) -> list[tuple[str, str]]:
    """The ETag if there is one, else the date: a server must ignore the date beside an ETag anyway (RFC 9110).

    A validator with bytes beyond ASCII could not be sent back as it came, so it is left out.
    """
    if validators is None:
        return []
    for name, value in (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified)):
        if value and value.isascii():
            return [(name, value)]
    return []
