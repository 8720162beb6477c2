"""`error_page`: whether a response with content is an error page in place of the page.

A page is certainly one if it has the technical markers of a block, or the form of an application's error message. All
other evidence (title, headings, sentences, a sign-in form, the target of a redirect) is weighed: one sign alone occurs
on ordinary pages, too. A page without much text of its own that has several signs of one kind is an error page of this
kind. If it replaces a page that was larger and had another title, one sign is enough.

An uncertain error page that is still there at the fifth visit is taken as the content of the page. A sign-in page is
content if its own address was asked for, and any uncertain page is if the page's rules select a part of it.
"""

from __future__ import annotations

import re
from collections import Counter

from msgspec import Struct

from webstrata.detect.error_pages.addresses import (
    leads_to_consent,
    leads_to_not_found,
    leads_to_outage,
    leads_to_sign_in,
    names_an_error,
    names_not_found,
    names_sign_in,
)
from webstrata.detect.error_pages.application_errors import application_error, is_not_found
from webstrata.detect.error_pages.blocks import block_page, blocked_by, widget_page
from webstrata.detect.error_pages.evidence import MAX_TEXT_CHARS, PageEvidence
from webstrata.detect.error_pages.sentences import sentences_of
from webstrata.detect.error_pages.statements import ErrorStatement, statement, title_statement
from webstrata.records import FailureKind

MAX_FAILURES = 4
"""After this number of failed visits in a row, an uncertain error page or an empty body is taken as the page."""
_TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "")
_SHRINK_FACTOR = 4
"""An error page with one sign must be smaller than the previous version by this factor."""
_ENOUGH = 4
"""Weight of the signs that an error page has at the first visit."""
_ENOUGH_IN_PLACE = 2
"""The same if it replaces a larger page with another title."""
_HEADINGS = 2
"""The first lines of the main text that may state the error."""
_LENGTHS = ((80, 2), (300, 1), (900, 0), (1_500, -1))
"""Longest main text in letters -> what its shortness adds to the weight."""
_LONG = -3
_NEXT_TO_NOTHING = 40
"""Letters of a text beside which a password field is the content."""
_PASSWORD = re.compile(r"<input\b[^>]{0,300}\btype=[\"']?password")
_ABOUT = re.compile(r"\bstatus codes?\b|\b(?:status|error|code)\b.{0,20}\bmeans?\b|statuscode|code d['’]état", re.I)
_DEFAULT_PAGE = re.compile(
    r"welcome to nginx!|apache2? .{0,30}default page.*|test page for .*|iis windows server"
    r"|default parallels plesk page",
    re.IGNORECASE,
)
_NOTICES = {
    FailureKind.SOFT_404: "notice that the page does not exist",
    FailureKind.PLACEHOLDER: "notice of an error or of maintenance",
    FailureKind.BLOCK_PAGE: "refusal in place of the page",
    FailureKind.LOGIN_WALL: "sign-in form in place of the page",
}


class ErrorPage(Struct, frozen=True, kw_only=True, gc=False):
    """An error page served in place of the page."""

    kind: FailureKind
    reason: str
    """What was recognised, in a few words."""


def error_page(status: int, evidence: PageEvidence) -> ErrorPage | None:
    """Classify a response with content as an error page; None (in nearly all cases) if it is the page itself."""
    before, now = evidence.before, evidence.now
    if status not in (200, 203) or (before is not None and before.raw == now.raw):
        return None
    declared = blocked_by(evidence.headers)
    if declared is not None:
        return ErrorPage(kind=FailureKind.BLOCK_PAGE, reason=declared)
    if now.size == 0:
        return _empty_body(evidence)
    if now.media_type not in _TEXT_TYPES:
        return None
    return _certain(evidence) or _uncertain(evidence)


def _empty_body(evidence: PageEvidence) -> ErrorPage | None:
    before = evidence.before
    if before is None or before.size == 0 or evidence.failures >= MAX_FAILURES:
        return None
    return ErrorPage(kind=FailureKind.EMPTY, reason=f"empty body; the previous version had {before.size} bytes")


def _certain(evidence: PageEvidence) -> ErrorPage | None:
    """Application errors and block pages, by their form."""
    found = application_error(evidence)
    if found is not None:
        kind = FailureKind.SOFT_404 if "PHP" not in found and is_not_found(evidence) else FailureKind.PLACEHOLDER
        return ErrorPage(kind=kind, reason=found)
    found = block_page(evidence) if evidence.is_short else None
    if found is None:
        return None
    stated = title_statement(evidence.title)
    is_outage = stated is not None and stated.kind is FailureKind.PLACEHOLDER
    return ErrorPage(kind=FailureKind.PLACEHOLDER if is_outage else FailureKind.BLOCK_PAGE, reason=found)


def _uncertain(evidence: PageEvidence) -> ErrorPage | None:
    """Pages with several signs of one kind of error."""
    if evidence.failures >= MAX_FAILURES or evidence.selects or _has_accepted_title(evidence):
        return None
    title = title_statement(evidence.title)
    if _DEFAULT_PAGE.fullmatch(evidence.title):
        return ErrorPage(kind=FailureKind.PLACEHOLDER, reason="default page of the web server")
    # Of a long text nothing is read, unless the title or a redirect says that the rest is menus.
    if title is None and not evidence.is_short and not evidence.is_redirected:
        return None
    if evidence.length > MAX_TEXT_CHARS:
        return None
    widget = widget_page(evidence)
    if widget is not None:
        return ErrorPage(kind=FailureKind.BLOCK_PAGE, reason=widget)
    return _weighed(evidence, title)


def _weighed(evidence: PageEvidence, title: ErrorStatement | None) -> ErrorPage | None:
    weights: Counter[FailureKind] = Counter()
    reasons: dict[FailureKind, str] = {}
    for one in (title, _heading(evidence)):
        if one is not None:
            weights[one.kind] += one.weight
            reasons.setdefault(one.kind, f"{_NOTICES[one.kind]}: “{one.words[:60]}”")
    for sentence in sentences_of(evidence.main):
        weights[sentence.kind] += sentence.weight
    for kind, weight, reason in _by_address(evidence):
        weights[kind] += weight
        reasons[kind] = reason
    # A password field alone may be a box beside the content.
    if (weights[FailureKind.LOGIN_WALL] or evidence.length <= _NEXT_TO_NOTHING) and _PASSWORD.search(evidence.markup):
        # A refusal with a sign-in form asks to sign in.
        weights[FailureKind.LOGIN_WALL] += 2 + weights.pop(FailureKind.BLOCK_PAGE, 0)
    for kind in _asked_for(evidence):
        del weights[kind]
    if not weights:
        return None
    kind, weight = max(weights.items(), key=lambda item: item[1])
    shortness = next((bonus for longest, bonus in _LENGTHS if evidence.length <= longest), _LONG)
    weight += shortness - _doubt(evidence, kind)
    enough = _ENOUGH_IN_PLACE if _replaces_larger_page(evidence) else _ENOUGH
    return ErrorPage(kind=kind, reason=reasons.get(kind, _NOTICES[kind])) if weight >= enough else None


def _heading(evidence: PageEvidence) -> ErrorStatement | None:
    """What the first lines of the main text state; a text that is nothing else states it twice."""
    lines = evidence.lines[:_HEADINGS]
    found = max(filter(None, map(statement, lines)), key=lambda one: one.weight, default=None)
    if found is not None and len(evidence.lines) == 1:
        return found._replace(weight=found.weight + 1)
    return found


def _by_address(evidence: PageEvidence) -> list[tuple[FailureKind, int, str]]:
    """What the target of a redirect says."""
    if not evidence.is_redirected:
        return []
    requested, address = evidence.requested, evidence.address
    found = []
    if leads_to_sign_in(requested, address):
        found.append((FailureKind.LOGIN_WALL, 3, "redirected to a sign-in page"))
    if leads_to_consent(requested, address):
        found.append((FailureKind.BLOCK_PAGE, 3, "consent page in place of the page"))
    if leads_to_not_found(requested, address):
        found.append((FailureKind.SOFT_404, 3, "redirected to a page for missing pages"))
    if leads_to_outage(requested, address):
        found.append((FailureKind.PLACEHOLDER, 3, "redirected to a page for errors"))
    return found


def _asked_for(evidence: PageEvidence) -> list[FailureKind]:
    """The kinds of page that the page's own address names: a user who watches `/login` or `/404.html` wants them."""
    requested = evidence.requested
    sign_in = [FailureKind.LOGIN_WALL] if names_sign_in(requested) else []
    return sign_in + ([FailureKind.SOFT_404] if names_not_found(requested) else [])


def _doubt(evidence: PageEvidence, kind: FailureKind) -> int:
    """What speaks against an error page: an address or a text about errors."""
    if kind is FailureKind.LOGIN_WALL:
        return 0
    about_errors = 2 * names_an_error(evidence.requested)
    return about_errors + 2 * (_ABOUT.search(evidence.main) is not None)


def _has_accepted_title(evidence: PageEvidence) -> bool:
    """Whether the last content, which was accepted as the page, had the same title."""
    return evidence.before is not None and bool(evidence.title) and evidence.before.title == evidence.title


def _replaces_larger_page(evidence: PageEvidence) -> bool:
    """Whether the previous version had another title and was much larger or of another media type."""
    before, now = evidence.before, evidence.now
    if before is None or (before.title or "") == evidence.title:
        return False
    return before.size >= _SHRINK_FACTOR * now.size or before.media_type != now.media_type
