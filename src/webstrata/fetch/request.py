"""The request that a permit becomes: where it connects, what it sends, byte for byte."""

from __future__ import annotations

import re
from typing import NamedTuple

from yarl import URL

from webstrata.records import Failure, FailureKind, Permit, Posted, Validators

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_URL = re.compile(r"(https?)://((?:[a-zA-Z0-9._~!$&'()*+,;=%-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?)(/[!-\"$-~]*)")
"""Scheme, authority and target of a canonical URL: visible ASCII only; credentials have no place in one."""
_FIELD_VALUE = re.compile(r"[\x20-\x7e]*")


class Request(NamedTuple):
    """A request ready to be sent."""

    endpoint: URL
    """The permit's address and port with the URL's scheme and target: nothing is left to be resolved."""
    server_name: str
    """The URL's host: for TLS, and to keep other hosts at this address off its connections."""
    headers: dict[str, str]
    head: bytes
    """Request line and headers as they are sent."""
    method: str = "GET"
    body: bytes | None = None


def request_of(
    permit: Permit, accept: str, validators: Validators | None, posted: Posted | None = None
) -> Request | Failure:
    """Translate a permit; refuses what could smuggle a second line or a second target into the request."""
    match = _URL.fullmatch(permit.url)
    if match is None:
        return Failure(kind=FailureKind.BAD_URL, detail=f"not a URL that can be asked for: {permit.url[:200]!r}")
    scheme, authority, target = match.groups()
    headers = {
        "Host": authority,
        "User-Agent": permit.agent,
        "Accept": accept,
        "Accept-Encoding": ACCEPT_ENCODING,
        **_condition(validators),
    }
    method, body = "GET", None
    if posted is not None:
        method, body = "POST", posted.body
        headers |= {"Content-Type": posted.content_type, "Content-Length": str(len(posted.body))}
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers.items():
        if _FIELD_VALUE.fullmatch(value) is None:
            return Failure(kind=FailureKind.BAD_URL, detail=f"{name} holds more than plain text: {value[:200]!r}")
        lines.append(f"{name}: {value}")
    address = f"[{permit.address}]" if ":" in permit.address else permit.address
    return Request(
        # the query is given as part of the path, because yarl would drop the `?` of an empty one
        endpoint=URL.build(scheme=scheme, authority=f"{address}:{permit.port}", path=target, encoded=True),
        server_name=_host(authority),
        headers=headers,
        head=("\r\n".join(lines) + "\r\n\r\n").encode("ascii"),
        method=method,
        body=body,
    )


def _host(authority: str) -> str:
    if authority.startswith("["):
        return authority[1 : authority.index("]")]
    return authority.partition(":")[0]


def _condition(validators: Validators | None) -> dict[str, str]:
    """The ETag if there is one, else the date: a server must ignore the date beside an ETag anyway (RFC 9110).

    A validator with bytes beyond ASCII could not be sent back as it came, so it is left out.
    """
    if validators is None:
        return {}
    for name, value in (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified)):
        if value and value.isascii():
            return {name: value}
    return {}
