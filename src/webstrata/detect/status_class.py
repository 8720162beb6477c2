"""What an answer's status code says of the page."""

from __future__ import annotations

from enum import StrEnum


class StatusClass(StrEnum):
    CONTENT = "content"
    """The body is the page as it is now."""
    NOT_MODIFIED = "not-modified"
    """The copy we hold is the page as it is now."""
    REDIRECT = "redirect"
    """The page is to be found elsewhere."""
    GONE = "gone"
    """There is no such page (any more)."""
    BACKOFF = "backoff"
    """The server wants fewer requests, or none for a while."""
    DENIED = "denied"
    """We are not served; nothing is known of the page."""
    SERVER_ERROR = "server-error"
    """The server failed; nothing is known of the page."""
    OTHER = "other"
    """An answer that makes no sense for this request."""


_BY_STATUS = {
    **dict.fromkeys((200, 203), StatusClass.CONTENT),
    **dict.fromkeys((204, 205), StatusClass.CONTENT),  # an empty page is a page
    304: StatusClass.NOT_MODIFIED,
    **dict.fromkeys((301, 302, 303, 307, 308), StatusClass.REDIRECT),
    **dict.fromkeys((404, 410), StatusClass.GONE),
    **dict.fromkeys((429, 503), StatusClass.BACKOFF),
}


def status_class(status: int) -> StatusClass:
    """Which kind of answer a status code is."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 400 <= status < 500:
        return StatusClass.DENIED
    if 500 <= status < 600:
        return StatusClass.SERVER_ERROR
    # 1xx never ends an exchange; 206 was not asked for; 300 and 305 point nowhere; beyond 599 is no HTTP.
    return StatusClass.OTHER
