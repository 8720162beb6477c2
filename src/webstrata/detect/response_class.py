"""Classes of responses: by status code, and error pages that are served with status 200 (soft errors).

A soft error is a missing-page notice (soft 404), a challenge or block page, a login form, a maintenance notice or an
empty body in place of the page. It is recognised by phrases in its title or text.

A real version that is wrongly classified as an error page is a missed change, so the rules are narrow. All phrases
count in short texts only. `CERTAIN_PHRASES` do not occur on ordinary pages and always count. `AMBIGUOUS_PHRASES` may
be the subject of an ordinary page (an article on error 404, a watched login form). They count only if an earlier
version is known, it had another title, and it was at least four times as large or of another media type. An ambiguous
error page or empty body that is still there at the fifth visit is taken as the content of the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

from msgspec import Struct

from webstrata.records import FailureKind, Fingerprint

# ── by status code ──────────────────────────────────────────────────────────────────────────────────────────


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


# ── error pages served with status 200 ──────────────────────────────────────────────────────────────────────


class ErrorPhrase(NamedTuple):
    """A phrase that identifies error pages."""

    kind: FailureKind
    where: Literal["title", "text"]
    pattern: re.Pattern[str]


def _phrases(kind: FailureKind, where: Literal["title", "text"], *patterns: str) -> ErrorPhrase:
    return ErrorPhrase(kind, where, re.compile("|".join(patterns), re.IGNORECASE))


CERTAIN_PHRASES = (
    _phrases(
        FailureKind.BLOCK_PAGE,
        "title",
        r"^just a moment\W*$",
        r"^attention required! \| cloudflare$",
        r"^ddos-guard$",
        r"^are you (a )?(robot|human)\W*$",
        r"^(robot check|(human|bot) verification|captcha( challenge)?)$",
        r"^security check( required)?$",
        r"^access to this page has been denied\.?$",
    ),
    _phrases(
        FailureKind.BLOCK_PAGE,
        "text",
        r"enable javascript and cookies to continue",
        r"checking (if the site connection is secure|your browser before)",
        r"(verify|confirm|prove)( that)? you are (a )?(human|not a (robot|bot))",
        r"press (&|and) hold to confirm you are",
        r"incapsula incident id",
        r"unusual traffic from your computer network",
        r"cloudflare ray id\W",
        r"you don't have permission to access .{1,300}reference #[0-9a-f.]+",
        r"(your (ip|ip address|request|access)|you) (has|have) been (temporarily )?blocked",
    ),
)

AMBIGUOUS_PHRASES = (
    _phrases(
        FailureKind.SOFT_404,
        "title",
        r"^(error )?(404|410)\b",
        r"\b(404|410)( error)?$",
        r"^not found\b",
        r"\b(page|file|document|site) (was )?not found\b",
        r"\bpage (does ?n['o]t exist|missing|unavailable)",
        r"seite (wurde )?nicht gefunden",
        r"page (introuvable|non trouvée)",
    ),
    _phrases(
        FailureKind.SOFT_404,
        "text",
        r"the (requested )?(page|url|document)( you (requested|are looking for))? (was not|cannot be) found",
        r"(the|this) page (you (are|were) looking for )?(does ?n[o']t|no longer) exists?",
    ),
    _phrases(
        FailureKind.BLOCK_PAGE,
        "title",
        r"^access denied\W*$",
        r"^(error )?403\b",
        r"^forbidden\W*$",
        r"^request (blocked|rejected)\W*$",
    ),
    _phrases(
        FailureKind.PLACEHOLDER,
        "title",
        r"\b(under|scheduled) maintenance\b",
        r"^maintenance( mode)?$",
        r"^(we'll )?be right back",
        r"\btemporarily unavailable\b",
        r"\bcoming soon$",
        r"^(error )?50[0234]\b",
        r"^(internal server error|bad gateway|service unavailable|gateway time-?out)",
        r"^(welcome to nginx!|apache2? .{0,20}default page|test page for )",
        r"\bdomain (is )?(parked|for sale)",
    ),
    _phrases(
        FailureKind.PLACEHOLDER,
        "text",
        r"(down|closed|offline) for (scheduled |planned )?maintenance",
        r"error establishing a database connection",
    ),
    _phrases(
        FailureKind.LOGIN_WALL,
        "title",
        r"^(log ?in|sign ?in|anmelden|einloggen|se connecter|authentication required)\b",
        r"\b(log ?in|sign ?in)$",
    ),
    _phrases(
        FailureKind.LOGIN_WALL,
        "text",
        r"(you (must|need to)|please) (be )?(logged|log|signed|sign) ?in to (view|see|access|continue|read)",
    ),
)


MAX_TEXT_CHARS = 4_000
"""A longer text is not an error page."""
MAX_SPACES = 150
"""A text with this number of spaces or more is not an error page."""
MAX_FAILURES = 4
"""After this number of failed visits in a row, an ambiguous error page or an empty body is taken as the page."""
_TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "")
_SHRINK_FACTOR = 4
"""An ambiguous error page must be smaller than the previous version by this factor."""


class ErrorPage(Struct, frozen=True, kw_only=True, gc=False):
    """An error page served in place of the page."""

    kind: FailureKind
    reason: str


def error_page(
    status: int,
    headers: Mapping[str, str],
    text: str,
    title: str | None,
    before: Fingerprint | None,
    now: Fingerprint,
    *,
    failures: int = 0,
) -> ErrorPage | None:
    """Classify a response with content as an error page; None (in nearly all cases) if it is the page itself.

    `text` is the useful text or its first characters (more than `MAX_TEXT_CHARS` if the text is longer than that);
    `before` is the page's last content; `failures` is the number of failed visits in a row before this one.
    """
    if status not in (200, 203) or (before is not None and before.raw == now.raw):
        return None
    if headers.get("cf-mitigated") == "challenge":
        return ErrorPage(kind=FailureKind.BLOCK_PAGE, reason="the header cf-mitigated declares a challenge")
    if now.size == 0:
        return _empty_body(before, failures)
    if now.media_type not in _TEXT_TYPES or len(text) > MAX_TEXT_CHARS or text.count(" ") >= MAX_SPACES:
        return None
    match = _match(CERTAIN_PHRASES, title, text)
    if match is None and _replaces_larger_page(before, now, title, failures):
        match = _match(AMBIGUOUS_PHRASES, title, text)
    return match


def _empty_body(before: Fingerprint | None, failures: int) -> ErrorPage | None:
    if before is None or before.size == 0 or failures >= MAX_FAILURES:
        return None
    return ErrorPage(kind=FailureKind.EMPTY, reason=f"empty body; the previous version had {before.size} bytes")


def _replaces_larger_page(before: Fingerprint | None, now: Fingerprint, title: str | None, failures: int) -> bool:
    """Whether the previous version had another title and was much larger or of another media type."""
    if before is None or failures >= MAX_FAILURES or before.title == title:
        return False
    return before.size >= _SHRINK_FACTOR * now.size or before.media_type != now.media_type


def _match(phrases: tuple[ErrorPhrase, ...], title: str | None, text: str) -> ErrorPage | None:
    for phrase in phrases:
        match = phrase.pattern.search((title or "").strip() if phrase.where == "title" else text)
        if match is not None:
            return ErrorPage(kind=phrase.kind, reason=f"the {phrase.where} contains “{match[0][:80]}”")
    return None
