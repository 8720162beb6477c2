"""What the world must offer. Adapters implement these; thinking code never sees them; flows are handed them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from webstrata.records import (
    AddressState,
    Announcement,
    Batch,
    Boost,
    BudgetState,
    Capture,
    DuePage,
    Exchange,
    Failure,
    FetchResult,
    HostDayTotals,
    HostState,
    IntervalLimit,
    KeptRecord,
    Listing,
    NewPage,
    Original,
    Page,
    PageRules,
    PageSummary,
    Permit,
    Position,
    PostBody,
    ResourceCapture,
    RobotsState,
    SignalSource,
    Site,
    StoreTotals,
    UpcomingVisit,
    Validators,
    Visit,
    VisitResult,
    Wait,
)

ReservationPlan = Callable[[Mapping[str, BudgetState], Mapping[str, float]], Sequence[tuple[BudgetState, float]]]
"""(how budgets stand, what is left of the owner's portions, not put back yet) -> (how they stand then, portion)"""


class Clock(Protocol):
    """Time. Politeness, schedules, leases use it; socket and database timeouts are always real time."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    async def sleep_until(self, at: float) -> None: ...

    def working(self) -> AbstractContextManager[None]:
        """Real work (a socket, the disk, a thread) is in flight inside: a jumping clock stands still."""
        ...


class Web(Protocol):
    """All outgoing HTTP. The address guard and the limits live behind it."""

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        """The address (and port) that a request to this host would connect to, already passed by the guard."""
        ...

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
    ) -> Exchange:
        """One request, one answer, no redirects followed. Never raises for what the network does."""
        ...

    async def close(self) -> None: ...


class VisitClient(Protocol):
    """How a handler asks, in one visit: every request with its own permit, waited for at its host's door.

    A `Wait` comes only before the visit's first request; later, a host that asks to wait too long is a failure.
    """

    async def get(self, url: str, *, accept: str, validators: Validators | None = None) -> FetchResult | Wait:
        """Ask for a URL and follow its redirects."""
        ...

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult | Wait:
        """Ask a question that is too long for a URL. A redirect that keeps the method (307, 308) is followed."""
        ...

    def now(self) -> float: ...


class Handler(Protocol):
    """How the content of a page is got. One file, one class; `webstrata.testing.handler.check_handler` is its contract.

    It asks only through `polite`, raises nothing for what the network does, and gives back a `Wait` as it got it.
    """

    @property
    def name(self) -> str: ...

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait: ...


class StoredCapture(Protocol):
    """A capture read back."""

    @property
    def url(self) -> str: ...
    @property
    def at(self) -> float: ...
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def body(self) -> bytes:
        """As on the wire: content coding kept. Of a revisit, the original's."""
        ...


class Archive(Protocol):
    """Append-only captures. What `append` returned is on the disk for good."""

    async def append(self, captures: Sequence[Capture | ResourceCapture]) -> list[Position]:
        """Write and sync; one position per capture, in order."""
        ...

    async def read(self, position: Position) -> StoredCapture: ...

    async def close(self) -> None:
        """Finish the growing file: it gets its final name and its index segment."""
        ...


class Store(Protocol):
    """Facts at rest. All methods are safe to call from one event loop; each is one short transaction."""

    # watching
    async def add_pages(self, pages: Iterable[NewPage], now: float) -> tuple[int, int]:
        """(new, known already). Known pages get the new weight and tags and are active again."""
        ...

    async def add_site(self, site: Site, now: float) -> Site:
        """Insert, or update by URL; returns it with its id."""
        ...

    async def sites(self) -> list[Site]: ...

    async def site_sizes(self) -> dict[int, int]:
        """Pages of each watched site, by the site's id."""
        ...

    async def pause(self, urls: Sequence[str]) -> int: ...

    async def set_page_rules(self, page_id: int, page_rules: PageRules | None) -> None: ...

    async def set_tag_rules(self, tag: str, page_rules: PageRules | None) -> None: ...

    async def tag_rules(self) -> dict[str, PageRules]: ...

    async def set_counted(self, page_id: int, keys: Sequence[int]) -> None:
        """The places of a page that count though they were learned to be noise. No visit touches them."""
        ...

    async def page(self, url: str) -> Page | None: ...

    async def known(self, urls: Sequence[str]) -> set[str]:
        """Those of the URLs that are pages already, in whatever state."""
        ...

    def pages(
        self,
        *,
        tag: str | None = None,
        state: str | None = None,
        host: str | None = None,
        order: Literal["added", "next"] = "added",
        limit: int | None = None,
    ) -> AsyncIterator[Page]:
        """All that match; `order="next"`: those with a next visit, soonest first."""
        ...

    # the loop
    async def claim(self, now: float, limit: int, until: float, owner: str) -> list[Page]:
        """Lease up to `limit` due pages, most overdue first; other owners do not get them before `until`."""
        ...

    async def release(self, pages: Iterable[tuple[int, float | None]]) -> None:
        """Give leases back unvisited; (page id, new next visit or None to leave it)."""
        ...

    async def end_leases(self, owner: str) -> int:
        """End every lease of an owner that died; returns how many."""
        ...

    async def next_due(self) -> float | None:
        """When the next unleased page is due."""
        ...

    async def upcoming(self, until: float, limit: int) -> list[UpcomingVisit]:
        """Visits due by then and not leased, soonest first."""
        ...

    async def move(self, moves: Iterable[tuple[int, float, str]]) -> None:
        """(page id, next visit, why): another time for pages that nobody has leased."""
        ...

    async def download_times(self, limit: int) -> list[tuple[str, float, int]]:
        """(host, seconds, requests) of the latest visits; 0 requests: given up before the first."""
        ...

    async def download_sums(self) -> dict[str, tuple[int, float]]:
        """(visits, seconds) of every host."""
        ...

    async def commit(self, batch: Batch) -> None:
        """All of it or nothing; ends the leases of the pages in it."""
        ...

    # the budget
    async def outlines(self, after: int, limit: int) -> list[PageSummary]:
        """The next watched pages by id, requisites apart."""
        ...

    async def outlines_of(self, ids: Sequence[int]) -> list[PageSummary]: ...

    async def largest_id(self) -> int:
        """Grows whenever pages are added."""
        ...

    async def due_pages(self, now: float, limit: int) -> list[DuePage]:
        """What may be claimed, most overdue first."""
        ...

    async def claim_pages(self, ids: Sequence[int], now: float, until: float, owner: str) -> list[Page]:
        """Lease exactly these, as far as they are watched and free, in the order given."""
        ...

    async def logged(self, ids: Sequence[int]) -> list[tuple[int, float, bool]]:
        """(page, when, changed) of the visits that saw these pages, by page and time."""
        ...

    async def announcements_after(self, after: int, limit: int) -> list[Announcement]:
        """The last words of all sources on the next pages by id."""
        ...

    async def paces(self) -> list[BudgetState]: ...

    async def save_paces(self, states: Sequence[BudgetState]) -> None: ...

    async def purse(self, owner: str, now: float) -> tuple[dict[str, BudgetState], dict[str, float]]:
        """How budgets stand, with what others let run out, and what is left of the owner's portions."""
        ...

    async def trade(self, owner: str, now: float, until: float, deal: ReservationPlan) -> None:
        """Take portions of budgets that several processes spend, or give them back, in one transaction.

        `deal` is told what `purse` tells, and answers with the budgets that it changes, each with the portion that the
        owner holds from now on (taken off already); what it held of others is put back. A portion that is not spent
        (`Batch.paid`) comes back after `until`. `deal` may be asked more than once.
        """
        ...

    async def site_states(self, hosts: Sequence[str] | None = None) -> dict[str, bytes]:
        """What was kept of these hosts (of all), by host."""
        ...

    async def save_site_states(self, states: Sequence[tuple[str, bytes]]) -> None: ...

    async def boosts(self) -> list[Boost]: ...

    async def set_boost(self, boost: Boost) -> None: ...

    async def end_boost(self, tag: str) -> int:
        """How many boosts that ended: one or none."""
        ...

    async def limits(self) -> list[IntervalLimit]: ...

    async def set_limit(self, limit: IntervalLimit) -> None:
        """In place of what was set for this page or tag; without a shortest and a longest: nothing any more."""
        ...

    # signals
    async def sources(self, urls: Sequence[str] | None = None) -> list[SignalSource]:
        """Those with these URLs, or all of them."""
        ...

    async def announcements(self, page_ids: Sequence[int]) -> list[Announcement]:
        """The last word of each source on each of these pages; `news` tells what came since the page was last seen."""
        ...

    async def listed_by(self, source: str) -> dict[str, Listing]:
        """The watched pages that a source lists, by URL."""
        ...

    async def originals(self, payloads: Sequence[str]) -> dict[str, Original]: ...

    async def politeness(
        self,
    ) -> tuple[list[HostState], list[AddressState], list[RobotsState]]: ...

    # showing
    async def visits(
        self,
        page_id: int,
        *,
        changes_only: bool = False,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        order: Literal["oldest", "newest"] = "newest",
    ) -> list[Visit]: ...

    def positions(self) -> AsyncIterator[tuple[Position, str | None]]:
        """Every WARC position that the log names, with its payload digest: for `check`."""
        ...

    async def host_days(self, *, since_day: int = 0, host: str | None = None) -> list[HostDayTotals]: ...

    async def census(self, now: float) -> StoreTotals: ...

    async def close(self) -> None: ...


class Evidence(Protocol):
    """The archive that a certificate is bound to."""

    def faults(self) -> list[str]:
        """Where the package disagrees with itself."""
        ...

    def digests(self) -> dict[str, str]:
        """Every file with its digest."""
        ...

    def kept(self) -> Iterator[KeptRecord | str]:
        """Every record; a sentence in place of one that is damaged."""
        ...


class Journal(Protocol):
    """What happened in a capture, line by line. What `append` took is on the disk for good."""

    def lines(self) -> list[bytes]:
        """What an earlier run wrote."""
        ...

    async def append(self, lines: Sequence[bytes]) -> None: ...
