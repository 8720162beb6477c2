"""`CaptureDownloader`: one download of a capture, sent politely, archived and committed before it is reported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.coding import encoded_body
from webstrata.errors import StoreError
from webstrata.flows.capture.observations import ObservedVisit, failure_text, needs_layers, visit_observations
from webstrata.flows.capture.rates import SitemapHints, sitemap_hints
from webstrata.flows.crawl.archive_entries import VisitPositions
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.requests.host_leases import HostLeases
from webstrata.flows.crawl.requests.polite_client import ChooseHandler, PoliteClient
from webstrata.flows.crawl.requests.polite_visit import PoliteVisit
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.tag_rules import with_tag_rules
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
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.proof.page_observation import PageObservation

log = logging.getLogger("webstrata.capture")

_MIN_GAP_S = 1e-3
"""Schedules need a time between two requests."""

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
    """What was observed, or the reason why nothing could be; and the links of the page."""

    url: str
    observations: tuple[ObservedUrl, ...] = ()
    """Of the page, and of other URLs that were requested on the way."""
    why: str = ""
    """Why it failed."""
    permanent: bool = False
    """Another attempt would fail in the same way."""
    positions: tuple[Position, ...] = ()
    """The archive records of the observations."""
    rules: dict[str, object] | None = None
    """The rules in force for the page: those that differ from the defaults."""
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
    """How a capture requests a page."""

    previous: PageObservation | None = None
    """If conditional requests are allowed: the page's last observation, to which a 304 response may refer."""
    render: bool = False
    """Run the page's scripts in a browser."""


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
        self._unanswered: list[Exchange] = []
        self._client = PoliteClient(
            web,
            gate,
            clock,
            leases=leases,
            robots_log=self,
            on_unanswered=self._add_unanswered,
            from_origin=True,
            max_redirects=max_redirects,
        )

    async def close(self) -> None:
        await self._client.close()

    def add_robots(self, exchange: Exchange) -> None:
        """Keep the exchange of a robots.txt request; it is archived with the next download."""
        self._robots_exchanges.append(exchange)

    async def required_gap(self, url: str, *, patience_until: float) -> tuple[float, str]:
        """The time between two requests to the host of `url`, and whether its robots.txt or our settings require it."""
        await self._client.learn_robots(url, patience_until)
        gap_s, gap_from = self._client.required_gap(url)
        return max(float(gap_s), _MIN_GAP_S), gap_from

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
        stored = await self._page(url, role)
        page = _with_mode(stored, mode)
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
            others = {
                index: await self._pipeline.parse_layers(result.exchanges[index]) for index in needs_layers(result)
            }
            robots, self._robots_exchanges = self._robots_exchanges, []
            written: list[VisitPositions] = []
            (row,) = await self._pipeline.commit([result], [parsed], robots, all_links, on_written=written.extend)
        last = result.exchanges[-1] if result.exchanges else None
        target = urls.join(last.url, last.header("location") or "") if last is not None else None
        observed = ObservedVisit(
            result=result,
            row=row,
            positions=written[0],
            parsed=parsed,
            others=others,
            unanswered=self._take_unanswered({url, *(exchange.url for exchange in result.exchanges)}),
            previous=mode.previous,
            not_followed=target is not None and bool(visit.redirect_problem(target)),
        )
        download = _download_result(url, observed, _rules(stored))
        return await self._with_references(download, result) if parsed is not None else download

    def _add_unanswered(self, exchange: Exchange) -> None:
        self._unanswered.append(exchange)

    def _take_unanswered(self, requested: set[str]) -> tuple[Exchange, ...]:
        """The requests for these URLs that were sent once more because their connection was closed."""
        taken = tuple(exchange for exchange in self._unanswered if exchange.url in requested)
        self._unanswered = [exchange for exchange in self._unanswered if exchange.url not in requested]
        return taken

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

    def wants_layers(self, page: Page) -> bool:
        return True

    def entries(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        return []

    def requisites(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        return []


def _with_mode(page: Page, mode: CaptureMode) -> Page:
    """The page as it is requested: with the handler for rendering, if asked for, and without validators, unless a 304
    response can refer to what the capture itself observed."""
    if mode.render and page.role is PageRole.PAGE:
        page = replace(page, page_rules=replace(page.page_rules or PageRules(), handler="browser"))
    is_known = mode.previous is not None and bool(mode.previous.layers) and mode.previous.payload == page.payload
    return page if is_known else replace(page, etag=None, last_modified=None)


def _download_result(url: str, observed: ObservedVisit, rules: dict[str, object] | None) -> DownloadResult:
    row, parsed = observed.row, observed.parsed
    observations = visit_observations(observed)
    own = [seen for entry in observations if entry.url == url for seen in entry.observations]
    last = own[-1] if own else None
    if last is not None and last.kind == "redirect":
        # The content at the target is another page, so its links belong to that.
        return DownloadResult(
            url=url,
            observations=observations,
            positions=_positions(observed, observations),
            links=(last.target,),
            rules=rules,
        )
    succeeded = last is not None and last.kind == "content"
    return DownloadResult(
        url=url,
        observations=observations,
        why="" if succeeded else _failure_text(row),
        permanent=row.truncated == "length" or (row.failure is not None and row.failure.kind in _PERMANENT),
        positions=_positions(observed, observations),
        rules=rules,
        links=parsed.links if parsed is not None else (),
        requisites=_files(url, observed, observations),
        frames=parsed.requisites.frames if parsed is not None else (),
        is_page=parsed is not None and parsed.fingerprint.media_type in HTML,
        sitemaps=parsed.sitemaps if parsed is not None else (),
    )


def _files(url: str, observed: ObservedVisit, observations: Sequence[ObservedUrl]) -> tuple[str, ...]:
    """The files to which a page refers; of a rendered page, those that the browser requested."""
    if observed.is_rendered:
        return tuple(dict.fromkeys(entry.url for entry in observations if entry.url != url))
    return observed.parsed.requisites.files if observed.parsed is not None else ()


def _positions(observed: ObservedVisit, observations: Sequence[ObservedUrl]) -> tuple[Position, ...]:
    """The positions of the records that the observations name."""
    named = {name for entry in observations for seen in entry.observations for name in _record_names(seen)}
    written = observed.positions
    every = (*written.exchanges, written.content, *written.extras)
    return tuple(position for position in every if position is not None and position.record_id in named)


def _record_names(seen: PageObservation) -> tuple[str, str, str]:
    return seen.record, seen.rendered, seen.view


def _rules(page: Page) -> dict[str, object] | None:
    """The rules in force that differ from the defaults, word for word."""
    rules: dict[str, object] = msgspec.to_builtins(page.page_rules) if page.page_rules is not None else {}
    return rules or None


def _failure_text(row: Visit) -> str:
    if row.failure is not None:
        return failure_text(row.failure)
    if row.truncated is not None:
        return f"the response was truncated ({row.truncated}), so its content is unknown"
    return f"status {row.status}"
