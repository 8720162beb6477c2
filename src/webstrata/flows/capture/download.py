"""`CaptureDownloader`: one download of a capture, sent politely, archived and committed before it is reported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.coding import encoded_body
from webstrata.detect.layers import deciding_layer, layer_digest
from webstrata.detect.response_class import StatusClass, status_class
from webstrata.errors import StoreError
from webstrata.flows.capture.rates import SitemapHints, sitemap_hints
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent, payload_digest, with_tag_rules
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.observe.media import HTML
from webstrata.observe.requisites.files import refers_to_files
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, Store, Web
from webstrata.records import (
    Exchange,
    FailureKind,
    FetchResult,
    NewPage,
    Page,
    PageRole,
    PageRules,
    PageState,
    Position,
    PostBody,
    Visit,
    VisitResult,
    Wait,
)
from webstrata.sharp.proof.certificate import Download

log = logging.getLogger("webstrata.capture")

_PERMANENT = frozenset(
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
"""Failures that another attempt a little later would not change."""


class DownloadResult(Struct, frozen=True, kw_only=True):
    """A download, or the reason why it failed; and the links of the page."""

    url: str
    download: Download | None = None
    why: str = ""
    """Why it failed."""
    permanent: bool = False
    """Another attempt would fail in the same way."""
    positions: tuple[Position, ...] = ()
    """All archive records of the download."""
    links: tuple[str, ...] = ()
    requisites: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    """Those among the requisites that are shown in a frame, so that they may be pages."""
    is_page: bool = False
    """The content is HTML."""
    sitemaps: tuple[str, ...] = ()
    hints: dict[str, SitemapHints] = {}
    """The statements of a sitemap about its pages."""


class CaptureMode(Struct, frozen=True, kw_only=True):
    """How a capture requests and compares pages."""

    layer: str = "auto"
    """The layer that is compared; with `auto` the page's own rules apply."""
    conditional: bool = False
    """Send conditional requests; a 304 response counts as the same content."""


class CaptureDownloader:
    """Downloads single pages. Several captures may use it at the same time; every host is requested politely."""

    def __init__(
        self,
        *,
        store: Store,
        web: Web,
        gate: PermitGate,
        leases: HostLeases | None,
        clock: Clock,
        pipeline: VisitPipeline,
        choose: ChooseHandler,
        parsers: HandlerParsers,
        max_redirects: int,
    ) -> None:
        self._store = store
        self._parsers = parsers
        self._clock = clock
        self._gate = gate
        self._pipeline = pipeline
        self._choose = choose
        self._committing = asyncio.Lock()
        self._robots_exchanges: list[Exchange] = []
        self._client = PoliteClient(web, gate, clock, leases=leases, robots_log=self, max_redirects=max_redirects)

    async def close(self) -> None:
        await self._client.close()

    def add_robots(self, exchange: Exchange) -> None:
        """Keep the exchange of a robots.txt request; it is archived with the next download."""
        self._robots_exchanges.append(exchange)

    async def pace_s(self, url: str, *, patience_until: float) -> float:
        """The time between two requests that the host of `url` requires, by its robots.txt and our settings."""
        await self._client.learn_robots(url, patience_until)
        return self._client.gap_s(url)

    def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the robots.txt of the origin lists, else `/sitemap.xml`."""
        origin = urls.origin(url)
        listed = [urls.join(origin, sitemap) for sitemap in self._gate.sitemaps(origin, self._clock.now())]
        return [sitemap for sitemap in listed or [urls.join(url, "/sitemap.xml")] if sitemap is not None]

    async def get(
        self,
        url: str,
        mode: CaptureMode,
        *,
        role: PageRole = PageRole.PAGE,
        patience_until: float,
        is_captured: Callable[[str], bool] = lambda target: False,
    ) -> DownloadResult:
        """Download a page as soon as its host allows.

        Redirects to pages of the capture (`is_captured`) are not followed, because these pages have downloads of their
        own. Redirects of a watched page are always followed: the crawl needs the content behind them.
        """
        page = _with_mode(await self._page(url, role), mode)
        is_watched = page.state is not PageState.CAPTURED
        visit = _CaptureVisit(
            self._client,
            patience_until=patience_until,
            is_captured=(lambda target: False) if is_watched else is_captured,
        )
        result = await self._choose(page).visit(page, visit)
        if isinstance(result, Wait):
            return DownloadResult(url=url, why=f"the host requires a wait: {result.why}")
        all_links = _AllLinks()
        async with self._committing:
            (parsed,) = await self._pipeline.parse([result], all_links)
            robots, self._robots_exchanges = self._robots_exchanges, []
            (row,) = await self._pipeline.commit([result], [parsed], robots, all_links)
        download = _download_result(url, result, parsed, row)
        return await self._with_references(download, result) if parsed is not None else download

    async def _with_references(self, download: DownloadResult, result: VisitResult) -> DownloadResult:
        """The download with the files to which it refers, and with what a sitemap states about its pages."""
        answer = result.answer
        if answer is None:
            return download
        body = encoded_body(answer)
        try:
            if result.page.role is PageRole.SITEMAP:
                return replace(download, hints=sitemap_hints(await self._parsers.sitemap(body), result.at))
            if result.content is None and refers_to_files(body.content_type):
                return replace(download, requisites=await self._parsers.files(body))
        except ValueError as problem:
            log.warning("%s: the files to which it refers, or its entries, are not known: %s", answer.url, problem)
        return download

    async def post(self, url: str, posted: PostBody, *, accept: str, patience_until: float) -> FetchResult | Wait:
        """Send a POST request to a service (a time stamp authority), as politely as others. It is not archived."""
        return await PoliteVisit(self._client, patience_until=patience_until).post(url, posted, accept=accept)

    async def _page(self, url: str, role: PageRole) -> Page:
        page = await self._store.pages.get(url)
        if page is None:
            new = NewPage(url=url, host=urls.host_of(url), role=role, state=PageState.CAPTURED)
            await self._store.pages.add([new], self._clock.now())
            page = await self._store.pages.get(url)
        if page is None:
            raise StoreError(f"{url} was added to the store and is missing. Run `webstrata check`.")
        return with_tag_rules([page], await self._store.pages.tag_rules())[0]


class _CaptureVisit(PoliteVisit):
    """A visit that does not follow redirects to other pages of the capture."""

    def __init__(self, client: PoliteClient, *, patience_until: float, is_captured: Callable[[str], bool]) -> None:
        super().__init__(client, patience_until=patience_until)
        self._is_captured = is_captured

    def redirect_problem(self, target: str) -> str:
        return f"redirected to {target}, which is another page of the capture" if self._is_captured(target) else ""


class _AllLinks(Discovery):
    """Parses the links and requisites of every page, but adds no pages to the store."""

    def __init__(self) -> None:
        super().__init__((), {}, due_at=0.0)

    def wants_links(self, page: Page) -> bool:
        return page.role is PageRole.PAGE

    def wants_requisites(self, page: Page) -> bool:
        return page.role is not PageRole.SITEMAP

    def entries(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        return []

    def requisites(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        return []


def _with_mode(page: Page, mode: CaptureMode) -> Page:
    """The page with the layer of the capture, and without validators unless conditional requests are allowed."""
    if mode.layer != "auto":
        page = replace(page, page_rules=replace(page.page_rules or PageRules(), layer=mode.layer))
    return page if mode.conditional else replace(page, etag=None, last_modified=None)


def _download_result(url: str, result: VisitResult, parsed: ParsedContent | None, row: Visit) -> DownloadResult:
    row_positions = [hop.position for hop in row.hops] + [row.position]
    positions = tuple(position for position in row_positions if position is not None)
    first = result.exchanges[0] if result.exchanges else None
    if first is not None and status_class(first.status or 0) is StatusClass.REDIRECT and positions:
        return _redirect_result(url, first, positions)
    download = _download(url, result, parsed, row)
    return DownloadResult(
        url=url,
        download=download,
        why="" if download is not None else _failure_text(row),
        permanent=row.truncated == "length" or (row.failure is not None and row.failure.kind in _PERMANENT),
        positions=positions,
        links=parsed.links if parsed is not None else (),
        requisites=parsed.requisites.files if parsed is not None else (),
        frames=parsed.requisites.frames if parsed is not None else (),
        is_page=parsed is not None and parsed.fingerprint.media_type in HTML,
        sitemaps=parsed.sitemaps if parsed is not None else (),
    )


def _download(url: str, result: VisitResult, parsed: ParsedContent | None, row: Visit) -> Download | None:
    response, position = result.answer, _response_position(url, result, row)
    if response is None or response.status is None or position is None or response.truncated is not None:
        return None
    is_gone = status_class(response.status) is StatusClass.GONE
    if row.failure is not None and not is_gone:
        return None
    fingerprint = parsed.fingerprint if parsed is not None else result.page.fingerprint
    if is_gone or fingerprint is None:
        content, status = f"status:{response.status}", response.status
    elif parsed is not None and parsed.problem is not None:  # not parsed completely: compare the bytes as sent
        content, status = f"payload:{parsed.payload}", response.status
    else:
        layer = deciding_layer(fingerprint, result.page.page_rules)
        content = f"{layer}:{layer_digest(fingerprint, layer)}"
        status = 200 if response.status == 304 else response.status
    return Download(
        started=result.at,
        ended=response.at + response.duration_s,
        status=status,
        payload=_payload(response, row),
        content=content,
        record=position.record_id,
    )


def _response_position(url: str, result: VisitResult, row: Visit) -> Position | None:
    """The record of the page's own response. The row has another record if a handler computed the content."""
    if result.content is None:
        return row.position
    hop = row.hops[result.main]
    return hop.position if hop.url == url else None


def _payload(response: Exchange, row: Visit) -> str:
    """The payload digest in the record of the response; the record of a 304 response has that of its original."""
    return row.payload if response.status == 304 and row.payload else payload_digest(response.body)


def _redirect_result(url: str, first: Exchange, positions: Sequence[Position]) -> DownloadResult:
    """The result for a URL that redirects. Its content is the target URL; the content at the target is another page."""
    target = urls.join(url, first.header("location") or "")
    download = Download(
        started=first.at,
        ended=first.at + first.duration_s,
        status=first.status or 0,
        payload=payload_digest(first.body),
        content=f"redirect:{target or ''}",
        record=positions[0].record_id,
    )
    links = (target,) if target is not None else ()
    return DownloadResult(url=url, download=download, positions=tuple(positions), links=links)


def _failure_text(row: Visit) -> str:
    if row.failure is not None:
        return f"{row.failure.kind}: {row.failure.detail}" if row.failure.detail else str(row.failure.kind)
    if row.truncated is not None:
        return f"the response was truncated ({row.truncated}), so its content is unknown"
    return f"status {row.status}"
