"""The exchange with a server."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct


class FailureKind(StrEnum):
    DNS = "dns"
    BLOCKED = "blocked"
    """The address guard said no."""
    REFUSED = "refused"
    CONNECT = "connect"
    TLS = "tls"
    RESET = "reset"
    TIMEOUT_CONNECT = "timeout-connect"
    TIMEOUT_FIRST_BYTE = "timeout-first-byte"
    TIMEOUT_TOTAL = "timeout-total"
    MALFORMED = "malformed"
    """Not HTTP as we know it."""
    HEADERS_TOO_LARGE = "headers-too-large"
    REDIRECTS = "redirects"
    """Too many, a loop, or one to an address that is not http(s)."""
    BAD_URL = "bad-url"
    ROBOTS = "robots"
    """robots.txt forbids it, or could not be reached."""
    BACKOFF = "backoff"
    """The server asked us to come back later (429, 503)."""
    SERVER = "server-error"
    """Any other 5xx."""
    DENIED = "denied"
    """401, 403 and other 4xx that say nothing of the page itself."""
    SOFT_404 = "soft-404"
    """Status 200, but the body says that there is no such page."""
    BLOCK_PAGE = "block-page"
    """A captcha, a challenge or a notice that we are not welcome, in place of the page."""
    LOGIN_WALL = "login-wall"
    PLACEHOLDER = "placeholder"
    """Maintenance, an error of the application or a parked domain, in place of the page."""
    EMPTY = "empty"
    """No content where there was some."""
    NO_ORIGINAL = "not-modified-without-copy"
    UNEXPECTED = "unexpected-content"
    """Not what the page's handler asked for: HTML where data was due, a query that the endpoint does not take."""
    PARTIAL = "partial-answer"
    """The answer says, or shows, that it is not all of it."""
    HANDLER = "handler"
    """The page's handler cannot work here: a program is missing, broke, or was used up."""
    INTERNAL = "internal"
    """Our own fault: the log has the details."""


class Failure(Struct, frozen=True, kw_only=True, gc=False):
    kind: FailureKind
    detail: str = ""


class Validators(Struct, frozen=True, kw_only=True, gc=False):
    """What a conditional request sends."""

    etag: str | None = None
    last_modified: str | None = None


class Exchange(Struct, frozen=True, kw_only=True, gc=False):
    """One request and its answer, as they were on the wire (transfer coding removed, content coding kept)."""

    url: str
    at: float
    """Start of the request."""
    duration_s: float
    request_head: bytes
    """Request line and headers as sent, with the closing empty line."""
    request_body: bytes = b""
    address: str | None = None
    """Address connected to."""
    status: int | None = None
    response_head: bytes = b""
    """Status line and headers as received, with the closing empty line."""
    headers: tuple[tuple[str, str], ...] = ()
    """The same, parsed: names in lower case."""
    body: bytes = b""
    truncated: Literal["length", "time", "disconnect"] | None = None
    failure: Failure | None = None
    """Set: there is no answer worth reading (status may still be known)."""

    def header(self, name: str) -> str | None:
        """First value of a header, by lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class PostBody(Struct, frozen=True, kw_only=True, gc=False):
    """What a POST carries. Only for questions: nothing that we send may change anything."""

    body: bytes
    content_type: str


class FetchResult(Struct, frozen=True, kw_only=True):
    """What came of asking for one URL and wherever its redirects lead."""

    exchanges: tuple[Exchange, ...] = ()
    """Redirects in order, then the answer."""
    failure: Failure | None = None
    again_at: float | None = None
    """When it makes sense to try again, where the host's owner said so."""

    @property
    def answer(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """Content that was made of what servers sent, to be archived beside it."""

    url: str
    """`urn:` names as the field uses them: `urn:view:URL` (screenshot), `urn:dom:URL`, `urn:data:URL`."""
    at: float
    content_type: str
    body: bytes
