"""One download of a capture: asked for politely and in full, archived and logged before anything is said of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.detect.layers import candidate_layers, layer_digest
from webstrata.detect.response_class import StatusClass
from webstrata.detect.response_class import status_class
from webstrata.errors import StoreError
from webstrata.flows.capture.pages import SitemapHints, sitemap_hints
from webstrata.flows.capture.styles import files_of
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent, payload_digest, with_tag_rules
from webstrata.flows.crawl.polite_client import Choose, PoliteClient, PoliteVisit
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store, Web
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
    FetchResult,
    NewPage,
    Page,
    PageRole,
    PageRules,
    Permit,
    Position,
    PostBody,
    Visit,
    VisitResult,
    Wait,
)
from webstrata.sharp.proof.certificate import Download

TAG = "capture"
"""Of pages that are known only because a site was captured; they are paused, so that the loop leaves them alone."""
_AGES_S = 1e9
_LASTING = frozenset(
    {
        FailureKind.BAD_URL,
        FailureKind.BLOCKED,
        FailureKind.DENIED,
        FailureKind.LOGIN_WALL,
        FailureKind.REDIRECTS,
        FailureKind.ROBOTS,
        FailureKind.SOFT_404,
    }
)
"""Failures that another try a little later would meet again."""


class DownloadResult(Struct, frozen=True, kw_only=True):
    """What came of it: a download, or the reason why there is none; and where the page leads."""

    url: str
    download: Download | None = None
    why: str = ""
    lasting: bool = False
    """Another try would fail in the same way."""
    positions: tuple[Position, ...] = ()
    """All records that belong to it."""
    links: tuple[str, ...] = ()
    requisites: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    told: dict[str, SitemapHints] = {}
    """What a sitemap says of how often its pages change."""


class CaptureMode(Struct, frozen=True, kw_only=True):
    """How a capture looks at pages: the layer that counts (a page's own rules apply), and whether a 304 will do."""

    layer: str = "auto"
    conditional: bool = False


class CaptureDownloader:
    """Downloads pages, each for itself: several captures may ask at the same time, every host is asked politely."""

    def __init__(
        self,
        *,
        store: Store,
        web: Web,
        gate: PermitGate,
        clock: Clock,
        settler: VisitPipeline,
        choose: Choose,
        max_redirects: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settler = settler
        self._choose = choose
        self._max_redirects = max_redirects
        self._settling = asyncio.Lock()
        self._robots: list[Exchange] = []
        self._gate = gate
        self._door = PoliteClient(web, gate, clock, keep=self._robots.append, listed=lambda origin, sitemaps: None)

    async def close(self) -> None:
        await self._door.close()

    async def pace_s(self, url: str, *, patience_until: float) -> float:
        """Seconds from request to request that the host of `url` asks for, by its robots.txt and our own rules."""
        await self._door.meet(url, patience_until)
        return self._door.gap_s(url)

    def sitemaps(self, url: str) -> list[str]:
        """What the robots.txt of an origin names, else the usual place."""
        origin = urls.origin(url)
        named = [urls.join(origin, sitemap) for sitemap in self._gate.sitemaps(origin, self._clock.now())]
        return [sitemap for sitemap in named or [urls.join(url, "/sitemap.xml")] if sitemap is not None]

    async def get(
        self,
        url: str,
        manner: CaptureMode,
        *,
        role: PageRole = PageRole.PAGE,
        patience_until: float,
        apart: Callable[[str], bool] = lambda target: False,
    ) -> DownloadResult:
        """Download a page now, or as soon as its host allows. Redirects to what is captured `apart` are not followed,
        unless the page is watched: then the loop needs to know what lies behind."""
        page = _as_captured(await self._page(url, role), manner)
        polite = _NoRedirectToCapturedPages(
            self._door,
            self._clock,
            max_redirects=self._max_redirects,
            patience_until=patience_until,
            apart=apart if page.tags == (TAG,) else lambda target: False,
        )
        came = await self._choose(page).visit(page, polite)
        if isinstance(came, Wait):
            return DownloadResult(url=url, why=f"the host asks to wait: {came.why}")
        with_links = _AllLinks()
        async with self._settling:
            looks = await self._settler.read([came], with_links)
            robots, self._robots[:] = list(self._robots), []
            (row,) = await self._settler.settle([came], looks, robots, with_links)
        return _told(url, came, looks[0], row)

    async def ask(self, url: str, posted: PostBody, *, accept: str, patience_until: float) -> FetchResult | Wait:
        """A question to a service (a time stamp authority), as politely as all else; nothing of it is archived."""
        polite = PoliteVisit(self._door, self._clock, max_redirects=self._max_redirects, patience_until=patience_until)
        return await polite.post(url, posted, accept=accept)

    async def _page(self, url: str, role: PageRole) -> Page:
        page = await self._store.pages.get(url)
        if page is None:
            # Not due for ages, so that a crash before it is paused makes no crawl visit it.
            later = self._clock.now() + _AGES_S
            new = NewPage(url=url, host=urls.host_of(url), role=role, tags=(TAG,), next_at=later)
            await self._store.pages.add([new], self._clock.now())
            await self._store.pages.pause([url])
            page = await self._store.pages.get(url)
        if page is None:
            raise StoreError(f"{url} was added and is not there. Run `webstrata check`.")
        return with_tag_rules([page], await self._store.pages.tag_rules())[0]


def _as_captured(page: Page, manner: CaptureMode) -> Page:
    """A 304 is no proof: nothing is asked for on condition unless that was allowed."""
    if manner.layer != "auto":
        page = replace(page, page_rules=replace(page.page_rules or PageRules(), layer=manner.layer))
    return page if manner.conditional else replace(page, etag=None, last_modified=None)


def _told(url: str, came: VisitResult, found: ParsedContent | None, row: Visit) -> DownloadResult:
    positions = [hop.position for hop in row.hops] + [row.position]
    kept = tuple(position for position in positions if position is not None)
    first = came.exchanges[0] if came.exchanges else None
    if first is not None and status_class(first.status or 0) is StatusClass.REDIRECT and kept:
        return _redirect(url, first, kept)
    download = _download(url, came, found, row)
    return DownloadResult(
        url=url,
        download=download,
        why="" if download is not None else _why(row),
        lasting=row.truncated == "length" or (row.failure is not None and row.failure.kind in _LASTING),
        positions=kept,
        links=found.links if found is not None else (),
        requisites=_requisites(came, found) if found is not None else (),
        sitemaps=found.sitemaps if found is not None else (),
        told=_frequencies(came) if found is not None else {},
    )


def _requisites(came: VisitResult, found: ParsedContent) -> tuple[str, ...]:
    """What a page shows, and what its styles name; of a style sheet, what that names."""
    styled = files_of(came.answer) if came.answer is not None and came.content is None else ()
    return tuple(dict.fromkeys((*found.requisites, *styled)))


def _frequencies(came: VisitResult) -> dict[str, SitemapHints]:
    if came.page.role is not PageRole.SITEMAP or came.answer is None:
        return {}
    return sitemap_hints(came.answer, came.at)


def _download(url: str, came: VisitResult, found: ParsedContent | None, row: Visit) -> Download | None:
    answer, place = came.answer, _answer_place(url, came, row)
    if answer is None or answer.status is None or place is None or answer.truncated is not None:
        return None
    gone = status_class(answer.status) is StatusClass.GONE
    if row.failure is not None and not gone:
        return None
    fingerprint = found.fingerprint if found is not None else came.page.fingerprint
    if gone or fingerprint is None:
        content, status = f"status:{answer.status}", answer.status
    elif found is not None and found.problem is not None:  # not read to its end: only the bytes as sent can be compared
        content, status = f"payload:{found.payload}", answer.status
    else:
        layers = candidate_layers(came.page.page_rules)
        layer, digest = next((name, mark) for name in layers if (mark := layer_digest(fingerprint, name)))
        content, status = f"{layer}:{digest}", 200 if answer.status == 304 else answer.status
    return Download(
        started=came.at,
        ended=answer.at + answer.duration_s,
        status=status,
        payload=_payload(answer, row),
        content=content,
        record=place.record_id,
    )


def _answer_place(url: str, came: VisitResult, row: Visit) -> Position | None:
    """The record of the page's own answer: where a handler made the content of it, that is not the row's."""
    if came.content is None:
        return row.position
    hop = row.hops[came.main]
    return hop.position if hop.url == url else None


def _payload(answer: Exchange, row: Visit) -> str:
    """As the answer's record names it: a 304 names its original's."""
    return row.payload if answer.status == 304 and row.payload else payload_digest(answer.body)


def _redirect(url: str, first: Exchange, kept: Sequence[Position]) -> DownloadResult:
    """An address that leads elsewhere: where to is its content; what is there is another page."""
    target = urls.join(url, first.header("location") or "")
    download = Download(
        started=first.at,
        ended=first.at + first.duration_s,
        status=first.status or 0,
        payload=payload_digest(first.body),
        content=f"redirect:{target or ''}",
        record=kept[0].record_id,
    )
    links = (target,) if target is not None else ()
    return DownloadResult(url=url, download=download, positions=tuple(kept), links=links)


def _why(row: Visit) -> str:
    if row.failure is not None:
        return f"{row.failure.kind}: {row.failure.detail}" if row.failure.detail else str(row.failure.kind)
    if row.truncated is not None:
        return f"the answer was cut ({row.truncated}), so nothing can be said of the rest"
    return f"status {row.status}"


class _NoRedirectToCapturedPages(PoliteVisit):
    """Follows no redirect to an address that is downloaded for itself anyway."""

    def __init__(
        self,
        door: PoliteClient,
        clock: Clock,
        *,
        max_redirects: int,
        patience_until: float,
        apart: Callable[[str], bool],
    ) -> None:
        super().__init__(door, clock, max_redirects=max_redirects, patience_until=patience_until)
        self._apart = apart

    async def _permit(self, url: str) -> Permit | Wait | FetchResult:
        if self._asked and self._apart(url):
            detail = f"led to {url}, which is captured as a page of its own"
            return FetchResult(failure=Failure(kind=FailureKind.REDIRECTS, detail=detail))
        return await super()._permit(url)


class _AllLinks(Discovery):
    """Every page's links and requisites are wanted, and become pages only where the capture wants them."""

    def __init__(self) -> None:
        super().__init__((), {}, due_at=0.0)

    def wants_links(self, page: Page) -> bool:
        return page.role is PageRole.PAGE

    def wants_requisites(self, page: Page) -> bool:
        return page.role is PageRole.PAGE

    def entries(self, page: Page, look: ParsedContent) -> list[NewPage]:
        return []

    def requisites(self, page: Page, look: ParsedContent) -> list[NewPage]:
        return []
