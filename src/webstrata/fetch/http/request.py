"""`request_of`: the bytes and the target of the request that a permit allows, and the limits of its exchange."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from webstrata.records import Failure, FailureKind, Permit, PostBody, Validators, sendable_validator


class FetchLimits(Struct, frozen=True, kw_only=True):
    """Limits of one exchange. Times are real time, whichever clock the schedule uses."""

    header_bytes: int = 64 * 1024
    """Status line and headers together; a longer head is refused."""
    header_count: int = 128
    body_bytes: int = 100_000_000
    """Body as sent, content coding included; a longer body is truncated and marked as such."""
    memory_bytes: int = 100_000_000
    """A longer body is not held in memory: it goes to a file, if the request allows that, else it is truncated here."""
    connect_s: float = 20.0
    """For connecting, TLS included; also for resolving a name."""
    first_byte_s: float = 60.0
    """Longest time without data: before the first byte of the response, and between any two parts of it."""
    total_s: float = 300.0
    """For the whole exchange. Of a body that goes to a file, every `memory_bytes` may take this long."""


ACCEPT_ENCODING = "gzip, deflate, br, zstd"
PLAIN_ENCODING = "gzip"
"""The coding that the standard libraries of all languages can remove."""
_FROM_ORIGIN = (("Cache-Control", "no-cache"), ("Pragma", "no-cache"))

_URL = re.compile(r"(https?)://((?:[a-zA-Z0-9._~!$&'()*+,;=%-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?)(/[!-\"$-~]*)")
"""Scheme, authority and target of a canonical URL: visible ASCII only, without credentials."""
_FIELD_VALUE = re.compile(r"[\x20-\x7e]*")


class ConnectionTarget(NamedTuple):
    """The peer of a connection. Only requests with the same target share a connection."""

    address: str
    port: int
    server_name: str
    """The host of the URL: for TLS, and to separate hosts that have the same address."""
    tls: bool


class HttpRequest(NamedTuple):
    """A request that is ready to be sent."""

    target: ConnectionTarget
    """With the address and port of the permit; the host of the URL is not resolved again."""
    head: bytes
    """Request line and headers as they are sent."""
    body: bytes = b""


def request_of(
    permit: Permit, accept: str, validators: Validators | None, posted: PostBody | None = None
) -> HttpRequest | Failure:
    """The request of a permit; a Failure if a value could add a second line or a second target to the request."""
    match = _URL.fullmatch(permit.url)
    if match is None:
        return Failure(kind=FailureKind.BAD_URL, detail=f"not a URL that can be requested: {permit.url[:200]!r}")
    scheme, authority, path = match.groups()
    fields = [
        ("Host", authority),
        ("User-Agent", permit.agent),
        ("Accept", accept),
        ("Accept-Encoding", PLAIN_ENCODING if permit.from_origin else ACCEPT_ENCODING),
        *(_FROM_ORIGIN if permit.from_origin else ()),
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
    """The ETag if known, else the date: servers must ignore the date if both are sent (RFC 9110, 13.1.3).

    A validator that cannot be sent back unchanged is left out.
    """
    if validators is None:
        return []
    for name, value in (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified)):
        sendable = sendable_validator(value)
        if sendable is not None:
            return [(name, sendable)]
    return []
