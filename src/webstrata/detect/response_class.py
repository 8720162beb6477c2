"""Classes of responses by status code. Error pages with status 200 are recognised in `error_pages/`."""

from __future__ import annotations

from enum import StrEnum


class StatusClass(StrEnum):
    """What a status code states about the page."""

    CONTENT = "content"
    """The body is the current content of the page."""
    NOT_MODIFIED = "not-modified"
    """The stored copy is the current content of the page."""
    REDIRECT = "redirect"
    """The page is at another address."""
    GONE = "gone"
    """The page does not exist, or no longer."""
    BACKOFF = "backoff"
    """The server asks for fewer requests, or for a pause."""
    DENIED = "denied"
    """The server refuses the request; the state of the page is unknown."""
    SERVER_ERROR = "server-error"
    """The server failed; the state of the page is unknown."""
    OTHER = "other"
    """A response that is not valid for this request."""


_BY_STATUS = {
    **dict.fromkeys((200, 203), StatusClass.CONTENT),
    **dict.fromkeys((204, 205), StatusClass.CONTENT),  # a page may be empty
    304: StatusClass.NOT_MODIFIED,
    **dict.fromkeys((301, 302, 303, 307, 308), StatusClass.REDIRECT),
    **dict.fromkeys((404, 410), StatusClass.GONE),
    **dict.fromkeys((429, 503), StatusClass.BACKOFF),
}


def status_class(status: int) -> StatusClass:
    """The class of a status code."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 400 <= status < 500:
        return StatusClass.DENIED
    if 500 <= status < 600:
        return StatusClass.SERVER_ERROR
    # 1xx is never final; 206 was not requested; 300 and 305 name no target; 600 and above are not HTTP.
    return StatusClass.OTHER
