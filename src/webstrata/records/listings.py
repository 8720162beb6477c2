"""Listings over all pages: which visits or pages are wanted, and the rows that they give."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from webstrata.records.changes import ChangeKind
from webstrata.records.exchange import Failure
from webstrata.records.pages import PageRole, PageState
from webstrata.records.visits import Visit

PageOrder = Literal["url", "added", "next", "changed", "visited", "changes", "failures", "size"]
"""By which value pages are sorted: URL, `added` and `next` from the smallest, all others from the largest."""


class VisitFilter(Struct, frozen=True, kw_only=True):
    """Which visits of all pages are wanted."""

    which: Literal["all", "changes", "versions", "errors"] = "all"
    """`changes`: those that found a change that counts; `versions`: these and first visits; `errors`: failed ones."""
    since: float | None = None
    until: float | None = None
    tag: str | None = None
    host: str | None = None
    kind: ChangeKind | None = None
    min_significance: float = 0.0
    requisites: bool = False
    """Also visits of images, style sheets and scripts."""


class PageVisit(Struct, frozen=True, kw_only=True, gc=False):
    """A visit with what a listing shows of its page."""

    visit: Visit
    url: str
    """URL of the page."""
    host: str
    tags: tuple[str, ...] = ()
    role: PageRole = PageRole.PAGE
    seen_before_at: float | None = None
    """Time of the page's last visit before this one that was no failure. Only for `changes` and `versions`."""


class PageFilter(Struct, frozen=True, kw_only=True):
    """Which pages are wanted."""

    tag: str | None = None
    host: str | None = None
    state: PageState | None = None
    """None: active and paused pages."""
    requisites: bool = False
    changed: bool = False
    """Only pages that have changed; with `since` only those whose last change is not older."""
    since: float | None = None
    errors: bool = False
    """Only pages whose last visit failed."""


class FailingPage(Struct, frozen=True, kw_only=True, gc=False):
    """The last visit of a page that fails, and since when it fails."""

    page_id: int
    at: float
    """Time of the last visit."""
    since: float
    """Time of the first of the failed visits in a row."""
    status: int | None
    failure: Failure
