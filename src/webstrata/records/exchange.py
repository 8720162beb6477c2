"""HTTP exchanges with servers, and why they fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct


class FailureKind(StrEnum):
    """Why a visit brought no content."""

    DNS = "dns"
    BLOCKED = "blocked"
    """The address guard refused the address."""
    REFUSED = "refused"
    CONNECT = "connect"
    TLS = "tls"
    RESET = "reset"
    TIMEOUT_CONNECT = "timeout-connect"
    TIMEOUT_FIRST_BYTE = "timeout-first-byte"
    TIMEOUT_TOTAL = "timeout-total"
    MALFORMED = "malformed"
    """The response is not valid HTTP."""
    HEADERS_TOO_LARGE = "headers-too-large"
    REDIRECTS = "redirects"
    """Too many redirects, a redirect loop, or a redirect to a URL that is not http(s)."""
    BAD_URL = "bad-url"
    ROBOTS = "robots"
    """robots.txt disallows the URL, or could not be fetched."""
    BACKOFF = "backoff"
    """The server asked to retry later (429, 503)."""
    SERVER = "server-error"
    """Any other 5xx status."""
    DENIED = "denied"
    """401, 403 and other 4xx statuses that do not tell whether the page exists."""
    SOFT_404 = "soft-404"
    """An error page served with status 200: the body says that the page does not exist."""
    BLOCK_PAGE = "block-page"
    """A captcha, a challenge or a notice that blocks crawlers, instead of the page."""
    LOGIN_WALL = "login-wall"
    """A log-in form instead of the page."""
    PLACEHOLDER = "placeholder"
    """A maintenance notice, an application error or a parked domain, instead of the page."""
    EMPTY = "empty"
    """No content, although earlier versions had content."""
    NO_ORIGINAL = "not-modified-without-copy"
    """Status 304, but no copy of the page is archived."""
    UNEXPECTED = "unexpected-content"
    """Not what the page's handler requested: HTML instead of data, or a query that the endpoint rejects."""
    PARTIAL = "partial-answer"
    """The response is incomplete, by its own statement or by its form."""
    HANDLER = "handler"
    """The page's handler cannot work: a program is missing or crashed, or a limit was reached."""
    INTERNAL = "internal"
    """An internal error of Webstrata; the log has the details."""
    LOCAL = "local"
    """A fault of this machine: no name server, no free file descriptor, no network. It says nothing about the host, so
    no page and no host is charged with it, and no visit is logged."""


class Failure(Struct, frozen=True, kw_only=True, gc=False):
    """Why a request or a visit failed."""

    kind: FailureKind
    detail: str = ""


class Validators(Struct, frozen=True, kw_only=True, gc=False):
    """The validators that a conditional request sends."""

    etag: str | None = None
    last_modified: str | None = None


_VALIDATOR = re.compile(r"[\x20-\x7e]{1,1024}")


def sendable_validator(value: str | None) -> str | None:
    """The value of an ETag or Last-Modified header if it can be sent back as received, else None.

    Only printable ASCII, at most 1,024 characters: a request with anything else in it is refused before it is sent, so
    a page whose server sends such a value could never be visited again.
    """
    return value if value is not None and _VALIDATOR.fullmatch(value) is not None else None


class LargeBody(Protocol):
    """A body that is not held in memory: it is in a file and is read piece by piece.

    The digests may take as long as reading it: ask for them in a thread.
    """

    @property
    def size(self) -> int: ...

    @property
    def payload(self) -> str:
        """`sha1:` of the bytes as sent."""
        ...

    @property
    def sha256(self) -> str:
        """Hex, of the bytes as sent."""
        ...

    def pieces(self) -> Iterator[bytes]:
        """The bytes as sent, from the first one on. Any number of threads may read at the same time."""
        ...


class Exchange(Struct, frozen=True, kw_only=True, weakref=True):
    """One request and its response, as they were on the wire (transfer coding removed, content coding kept)."""

    url: str
    at: float
    """When the request was sent; if it was not, when the attempt began."""
    duration_s: float
    """From `at` to the end of the response."""
    request_head: bytes
    """Request line and headers as sent, with the closing empty line."""
    request_body: bytes = b""
    address: str | None = None
    """IP address of the server."""
    status: int | None = None
    response_head: bytes = b""
    """Status line and headers as received, with the closing empty line."""
    headers: tuple[tuple[str, str], ...] = ()
    """The response headers, parsed; names in lower case."""
    body: bytes = b""
    large: LargeBody | None = None
    """The body, if it is not held in memory; `body` is then empty."""
    truncated: Literal["length", "time", "disconnect"] | None = None
    """Why the body is incomplete, as in the header WARC-Truncated."""
    failure: Failure | None = None
    """If set, there is no usable response (the status may still be known)."""
    sent: bool = True
    """The request left this machine. False if no connection could be used for it."""
    stale: bool = False
    """The request was sent on a kept connection that the server closed without an answer: it may be sent once more,
    with a permit of its own."""

    @property
    def body_bytes(self) -> int:
        """The size of the body, wherever it is."""
        return len(self.body) if self.large is None else self.large.size

    def header(self, name: str) -> str | None:
        """The first value of a header; `name` is in lower case."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class PostBody(Struct, frozen=True, kw_only=True, gc=False):
    """The body of a POST request. Only queries are sent: a request must not change anything on the server."""

    body: bytes
    content_type: str


class FetchResult(Struct, frozen=True, kw_only=True):
    """The result of requesting a URL and following its redirects."""

    exchanges: tuple[Exchange, ...] = ()
    """The redirects in order, then the final response."""
    failure: Failure | None = None
    again_at: float | None = None
    """The earliest time to retry, if the server or robots.txt names one."""

    @property
    def answer(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """Content derived from responses; it is archived in addition to them."""

    url: str
    """A `urn:` name as other crawlers use it: `urn:view:URL` (screenshot), `urn:dom:URL`, `urn:data:URL`."""
    at: float
    content_type: str
    body: bytes


class ServerAnswer(Struct, frozen=True, kw_only=True):
    """A successful answer of an archive's server."""

    url: str
    """Where the answer came from, after redirects."""
    status: int = 200
    """200, or 404: the server has nothing for the request."""
    body: bytes = b""
    """Without content coding."""
