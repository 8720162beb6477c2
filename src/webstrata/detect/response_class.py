"""What an answer's status code says of the page.

What pages say that stand in the place of the page: phrases as regular expressions, one to a line.

`CERTAIN_PHRASES` are said by no page of itself. `AMBIGUOUS_PHRASES` a page may say of itself, but hardly overnight.

Answers with status 200 that are not the page: missing-page notices, challenges, login walls, maintenance, nothing.

Wrongly called a disguise, a real version would be no change: so the rules are narrow. The sentences of block pages
count only in short texts. Everything that an honest page could be about (a page *on* error 404, a login form that is
watched for its own sake) counts only in place of a page that was known before, with another title, and said at least
four times as much. And a disguise that is still there at the fifth visit is what the page has become: then it is
content.
"""

from __future__ import annotations

from enum import StrEnum
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple
from msgspec import Struct
from webstrata.records import FailureKind, Fingerprint

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


class ErrorPhrase(NamedTuple):
    kind: FailureKind
    where: Literal["title", "text"]
    pattern: re.Pattern[str]


def _phrase(kind: FailureKind, where: Literal["title", "text"], *phrases: str) -> ErrorPhrase:
    return ErrorPhrase(kind, where, re.compile("|".join(phrases), re.IGNORECASE))


CERTAIN_PHRASES = (
    _phrase(
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
    _phrase(
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
    _phrase(
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
    _phrase(
        FailureKind.SOFT_404,
        "text",
        r"the (requested )?(page|url|document)( you (requested|are looking for))? (was not|cannot be) found",
        r"(the|this) page (you (are|were) looking for )?(does ?n[o']t|no longer) exists?",
    ),
    _phrase(
        FailureKind.BLOCK_PAGE,
        "title",
        r"^access denied\W*$",
        r"^(error )?403\b",
        r"^forbidden\W*$",
        r"^request (blocked|rejected)\W*$",
    ),
    _phrase(
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
    _phrase(
        FailureKind.PLACEHOLDER,
        "text",
        r"(down|closed|offline) for (scheduled |planned )?maintenance",
        r"error establishing a database connection",
    ),
    _phrase(
        FailureKind.LOGIN_WALL,
        "title",
        r"^(log ?in|sign ?in|anmelden|einloggen|se connecter|authentication required)\b",
        r"\b(log ?in|sign ?in)$",
    ),
    _phrase(
        FailureKind.LOGIN_WALL,
        "text",
        r"(you (must|need to)|please) (be )?(logged|log|signed|sign) ?in to (view|see|access|continue|read)",
    ),
)


MAX_TEXT_CHARS = 4_000
"""Characters of the text that are looked at."""
MAX_FAILURES = 4
"""Failed visits in a row after which a doubtful disguise is taken for the page."""
MAX_SPACES = 150
"""Spaces in a text from which on it is no disguise."""
_SHRUNK = 4


class ErrorPage(Struct, frozen=True, kw_only=True, gc=False):
    """Not the page, and why it is thought so."""

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
    """What an answer with content is instead of the page, or None (nearly always).

    `text` is the useful text or its beginning (`MAX_TEXT_CHARS` characters and some more, to tell that it is long);
    `before` the page's last content; `failures` how many visits have failed in a row.
    """
    if status not in (200, 203) or (before is not None and before.raw == now.raw):
        return None
    if headers.get("cf-mitigated") == "challenge":
        return ErrorPage(kind=FailureKind.BLOCK_PAGE, reason="the server says that it is a challenge")
    if now.size == 0:
        return _empty(before, failures)
    if not _is_web(now) or len(text) > MAX_TEXT_CHARS or text.count(" ") >= MAX_SPACES:
        return None
    found = _match(CERTAIN_PHRASES, title, text)
    if found is None and _may_be_instead(before, now, title, failures):
        found = _match(AMBIGUOUS_PHRASES, title, text)
    return found


def _empty(before: Fingerprint | None, failures: int) -> ErrorPage | None:
    if before is None or before.size == 0 or failures >= MAX_FAILURES:
        return None
    return ErrorPage(kind=FailureKind.EMPTY, reason=f"no content where there were {before.size} bytes")


def _is_web(mark: Fingerprint) -> bool:
    return mark.media_type in ("text/html", "application/xhtml+xml", "text/plain", "")


def _may_be_instead(before: Fingerprint | None, now: Fingerprint, title: str | None, failures: int) -> bool:
    """Whether something quite different, and smaller, stands where a page was."""
    if before is None or failures >= MAX_FAILURES or before.title == title:
        return False
    return before.size >= _SHRUNK * now.size or before.media_type != now.media_type


def _match(signs: tuple[ErrorPhrase, ...], title: str | None, text: str) -> ErrorPage | None:
    for sign in signs:
        found = sign.pattern.search((title or "").strip() if sign.where == "title" else text)
        if found is not None:
            return ErrorPage(kind=sign.kind, reason=f"the {sign.where} says “{found[0][:80]}”")
    return None
