"""One download of a capture: asked for politely and in full, archived and logged before anything is said of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.detect.answer import Answer, read_answer
from webstrata.detect.layers import deciding, layer_digest
from webstrata.errors import StoreError
from webstrata.flows.discover import Discovery
from webstrata.flows.doorkeeper import Doorkeeper
from webstrata.flows.look import Look, payload_digest
from webstrata.flows.settle import Settler
from webstrata.flows.visit import Choose, visit
from webstrata.permit.gate import Gate
from webstrata.ports import Clock, Store, Web
from webstrata.records import Exchange, Looking, NewPage, Page, PageRole, Position, Visit, Visited, Wait
from webstrata.sharp.certificate import Download

TAG = "capture"
"""Of pages that are known only because a site was captured; they are paused, so that the loop leaves them alone."""


class Downloaded(Struct, frozen=True, kw_only=True):
    """What came of it: a download, or the reason why there is none; and where the page leads."""

    url: str
    download: Download | None = None
    why: str = ""
    positions: tuple[Position, ...] = ()
    """All records that belong to it."""
    links: tuple[str, ...] = ()
    requisites: tuple[str, ...] = ()


class Downloads:
    """Downloads pages one at a time. The layer that counts can be set for all of them; a page's own rules apply."""

    def __init__(
        self,
        *,
        store: Store,
        web: Web,
        gate: Gate,
        clock: Clock,
        settler: Settler,
        choose: Choose,
        layer: str,
        conditional: bool,
        max_redirects: int,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settler = settler
        self._choose = choose
        self._layer = layer
        self._conditional = conditional
        self._max_redirects = max_redirects
        self._robots: list[Exchange] = []
        self._door = Doorkeeper(web, gate, clock, keep=self._robots.append, listed=lambda origin, sitemaps: None)

    async def close(self) -> None:
        await self._door.close()

    async def get(self, url: str, *, role: PageRole = PageRole.PAGE, patience_until: float) -> Downloaded:
        """Download a page now, or as soon as its host allows."""
        page = self._as_captured(await self._page(url, role))
        came = await visit(
            page,
            door=self._door,
            clock=self._clock,
            max_redirects=self._max_redirects,
            patience_until=patience_until,
            choose=self._choose,
        )
        if isinstance(came, Wait):
            return Downloaded(url=url, why=f"the host asks to wait: {came.why}")
        with_links = _AllLinks()
        looks = await self._settler.read([came], with_links)
        robots, self._robots[:] = list(self._robots), []
        (row,) = await self._settler.settle([came], looks, robots, with_links)
        return self._told(url, came, looks[0], row)

    async def _page(self, url: str, role: PageRole) -> Page:
        page = await self._store.page(url)
        if page is None:
            new = NewPage(url=url, host=urls.host_of(url), role=role, tags=(TAG,))
            await self._store.add_pages([new], self._clock.now())
            await self._store.pause([url])
            page = await self._store.page(url)
        if page is None:
            raise StoreError(f"{url} was added and is not there. Run `webstrata check`.")
        return page

    def _as_captured(self, page: Page) -> Page:
        """A 304 is no proof: nothing is asked for on condition unless that was allowed."""
        if self._layer != "auto":
            page = replace(page, looking=replace(page.looking or Looking(), layer=self._layer))
        return page if self._conditional else replace(page, etag=None, last_modified=None)

    def _told(self, url: str, came: Visited, found: Look | None, row: Visit) -> Downloaded:
        positions = [hop.position for hop in row.hops] + [row.position]
        kept = tuple(position for position in positions if position is not None)
        first = came.exchanges[0] if came.exchanges else None
        if first is not None and read_answer(first.status or 0) is Answer.REDIRECT and kept:
            return _redirect(url, first, kept)
        download = self._download(came, found, row)
        why = "" if download is not None else _why(row)
        links = found.links if found is not None else ()
        requisites = found.requisites if found is not None else ()
        return Downloaded(url=url, download=download, why=why, positions=kept, links=links, requisites=requisites)

    def _download(self, came: Visited, found: Look | None, row: Visit) -> Download | None:
        answer = came.answer
        if answer is None or answer.status is None or row.position is None:
            return None
        gone = read_answer(answer.status) is Answer.GONE
        if row.failure is not None and not gone:
            return None
        fingerprint = found.fingerprint if found is not None else came.page.fingerprint
        if gone or fingerprint is None:
            content, status = f"status:{answer.status}", answer.status
        else:
            layers = deciding(fingerprint, came.page.looking)
            layer, digest = next((name, mark) for name in layers if (mark := layer_digest(fingerprint, name)))
            content, status = f"{layer}:{digest}", 200 if answer.status == 304 else answer.status
        return Download(
            started=came.at,
            ended=answer.at + answer.duration_s,
            status=status,
            payload=row.payload or payload_digest(answer.body),
            content=content,
            record=row.position.record_id,
        )


def _redirect(url: str, first: Exchange, kept: Sequence[Position]) -> Downloaded:
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
    return Downloaded(url=url, download=download, positions=tuple(kept), links=links)


def _why(row: Visit) -> str:
    if row.failure is not None:
        return f"{row.failure.kind}: {row.failure.detail}" if row.failure.detail else str(row.failure.kind)
    return f"status {row.status}"


class _AllLinks(Discovery):
    """Every page's links and requisites are wanted, and become pages only where the capture wants them."""

    def __init__(self) -> None:
        super().__init__((), {}, due_at=0.0)

    def wants_links(self, page: Page) -> bool:
        return page.role is PageRole.PAGE

    def wants_requisites(self, page: Page) -> bool:
        return page.role is PageRole.PAGE

    def entries(self, page: Page, look: Look) -> list[NewPage]:
        return []

    def requisites(self, page: Page, look: Look) -> list[NewPage]:
        return []
