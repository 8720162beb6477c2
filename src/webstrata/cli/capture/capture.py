"""`webstrata capture`: whole sites as of one instant, with proof."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.cli.capture.display import NoCaptureDisplay, showing
from webstrata.cli.capture.summary import document, picture, show, waiting
from webstrata.cli.crawl.loop import until_signalled
from webstrata.cli.output import print_json, printable
from webstrata.cli.pages.watch import read_lines, read_list
from webstrata.cli.session import HomeOption, JsonOption, SetOption, open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError, WebstrataError

if TYPE_CHECKING:
    from webstrata.flows.capture.events import CaptureOrder
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.capture.site_capture import SiteCapture
    from webstrata.node import Node

Layer = Literal["auto", "raw", "text", "main", "links", "data"]


class CaptureOptions(Struct, frozen=True, kw_only=True):
    """What the command line asks for, beside the orders."""

    resume: str | None
    repair: int | None
    max_time_s: float | None
    within_s: float | None
    """Wait for the quietest stretch in so long a time."""
    out: Path | None


def command(
    addresses: Annotated[list[str] | None, typer.Argument(metavar="URL…", show_default=False)] = None,
    sharp: Annotated[bool, typer.Option("--sharp", help="Visit, then revisit: prove what stood together.")] = False,
    delay: Annotated[
        str | None, typer.Option(metavar="S", help="Least time between two requests; a site may ask for more.")
    ] = None,
    tau: Annotated[
        float | None, typer.Option(help="Confidence of each page's interval; pages with a smaller chance are doubtful.")
    ] = None,
    scope: Annotated[Literal["prefix", "host", "domain"], typer.Option(help="How far a site reaches.")] = "prefix",
    max_pages: Annotated[int | None, typer.Option(min=1, help="Pages of a site at most.")] = None,
    max_time: Annotated[str | None, typer.Option(metavar="T", help="Time for it, like 90m; then it ends well.")] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="How much pages matter: URL (or pattern with *), tab, weight.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="FILE", help="The pages, one URL a line; links are not followed then.")
    ] = None,
    sitemap: Annotated[
        bool, typer.Option("--sitemap", help="The pages are those that the site's sitemaps list.")
    ] = False,
    layer: Annotated[Layer | None, typer.Option(help="What counts as the same.")] = None,
    repair: Annotated[
        int | None, typer.Option(min=0, help="Further passes at most, while pages are blurred.", show_default=False)
    ] = None,
    when: Annotated[
        Literal["now", "best"], typer.Option(help="best: start in the quietest stretch of the site's week.")
    ] = "now",
    within: Annotated[str, typer.Option(metavar="T", help="With --when best: start within this time.")] = "24h",
    requisites: Annotated[bool, typer.Option(help="Capture images, styles and scripts too.")] = True,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.wacz", help="Where to; else ID.wacz in the home's captures.")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw visits and revisits (.svg, .png, .pdf).")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="Go on with a capture that ended early.")] = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Capture whole sites, each into one WACZ file with a signed certificate of which pages stood there together."""
    if bool(addresses) == (resume is not None):
        raise UsageError("name the sites to capture, or with --resume the capture to go on with.")
    if out is not None and (out.suffix != ".wacz" or len(addresses or ()) > 1):
        raise UsageError("--out names one file that ends in .wacz, for one site.")
    if seeds is not None and sitemap:
        raise UsageError("the pages come from --seeds or from --sitemap. Choose one.")
    if repair and not sharp and resume is None:
        raise UsageError("--repair mends what revisits found blurred. Add --sharp.")
    _insist_on_places(out, chart)
    node = open_node(home, [*(settings or ()), *([f"polite.delay={delay}"] if delay else ())])
    wish = CaptureOptions(
        resume=resume,
        repair=repair,
        max_time_s=parse_span(max_time) if max_time is not None else None,
        within_s=parse_span(within) if when == "best" else None,
        out=out,
    )
    orders = _orders(node, addresses or [], sharp=sharp, tau=tau, scope=scope, layer=layer)
    limits: dict[str, Any] = {"max_time_s": wish.max_time_s, "repair": repair or 0, "use_sitemap": sitemap}
    limits |= {"max_pages": max_pages} if max_pages is not None else {}
    limits |= {} if requisites else {"max_requisites": 0}
    limits |= {"weights": _weights(weights)} if weights is not None else {}
    limits |= {"listed": _listed(seeds)} if seeds is not None else {}
    made = run_async(lambda: _main(node, [replace(order, **limits) for order in orders], wish, quiet=quiet))
    told = [document(capture, proved) for capture, proved in made]
    if chart is not None:
        picture(chart, made)
    if as_json:
        print_json({"captures": told})
    else:
        for one in told:
            show(one)
    if len(made) < max(1, len(orders)) or any(not one["counts"]["sharp"] for one in told):
        raise typer.Exit(1)


def _insist_on_places(out: Path | None, chart: Path | None) -> None:
    """Better now than after hours."""
    for file in (out, chart):
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageError(f"there is no folder for {file}. Make it, or choose another place.")
    if chart is not None:
        from webstrata.plots.visits import KINDS

        if chart.suffix.lower() not in KINDS:
            raise UsageError(f"{chart.name} is no picture that can be drawn. End its name with {', '.join(KINDS)}.")


def _orders(
    node: Node,
    addresses: list[str],
    *,
    sharp: bool,
    tau: float | None,
    scope: Literal["prefix", "host", "domain"],
    layer: str | None,
) -> list[CaptureOrder]:
    from webstrata.flows.capture.events import CaptureOrder
    from webstrata.sharp.schedule import checked_tau

    settings = node.settings.capture
    return [
        CaptureOrder(
            url=urls.canonical(address),
            sharp=sharp,
            scope=scope,
            layer=layer or settings.layer,
            tau=checked_tau(settings.tau if tau is None else tau),
            conditional=settings.conditional,
            max_pages=settings.max_pages,
            max_requisites=settings.max_requisites,
        )
        for address in dict.fromkeys(addresses)
    ]


def _listed(source: str) -> tuple[str, ...]:
    pages, bad = read_list(read_lines(source), weight=1.0, tags=(), requisites=False)
    for line in bad:
        typer.echo(f"line {line.line}: {line.problem}", err=True)
    return tuple(page.url for page in pages)


def _weights(source: str) -> dict[str, float]:
    """A pattern stays as it is written; an address becomes the key of its page."""
    found: dict[str, float] = {}
    for number, line in enumerate(read_lines(source), 1):
        if not line.strip() or line.startswith("#"):
            continue
        address, _, weight = line.strip().partition("\t")
        try:
            value = float(weight)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise UsageError(f"{source}, line {number}: a line is URL, tab, weight (a number from 0 up).")
        found[address if "*" in address else urls.canonical(address)] = value
    return found


class _Running:
    """Captures under way, to be stopped together."""

    def __init__(self, wish: CaptureOptions, display: NoCaptureDisplay) -> None:
        self.wish = wish
        self.display = display
        self.captures: list[SiteCapture] = []
        self._stop = asyncio.Event()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()
        for capture in self.captures:
            capture.stop()

    async def one(
        self, capturing: CaptureService, node: Node, order: CaptureOrder | None
    ) -> tuple[SiteCapture, FinishedCapture] | None:
        """From the beginning to the file; nothing where it was stopped before it began."""
        if order is not None and self.wish.within_s is not None:
            await self._quietest(capturing, node, order, self.wish.within_s)
        if self.stopping:
            return None
        if order is not None:
            capture = await capturing.begin(order, self.display.told)
        else:
            wish = self.wish
            capture = await capturing.resume(
                wish.resume or "", self.display.told, repair=wish.repair, max_time_s=wish.max_time_s
            )
        self._join(capture)
        await capture.run()
        out = self.wish.out or node.home.captures / f"{capture.state.began.capture}.wacz"
        return capture, await capturing.finish(capture, out)

    def _join(self, capture: SiteCapture) -> None:
        self.captures.append(capture)
        if self.stopping:
            capture.stop()

    async def _quietest(self, capturing: CaptureService, node: Node, order: CaptureOrder, within_s: float) -> None:
        start, past = await capturing.quietest(order, within_s)
        told = waiting(start.at, node.clock.now(), start.relative, len(past.changes_at))
        typer.echo(f"webstrata: {order.url}: {told}", err=True)
        sleeping = asyncio.ensure_future(node.clock.sleep_until(start.at))
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((sleeping, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (sleeping, stopping):
            task.cancel()


async def _main(
    node: Node, orders: list[CaptureOrder], wish: CaptureOptions, *, quiet: bool
) -> list[tuple[SiteCapture, FinishedCapture]]:
    with showing(quiet=quiet) as display:
        logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="webstrata: %(message)s")
        running = _Running(wish, display)
        made: list[Any] = []
        wanted: list[CaptureOrder | None] = list(orders) if wish.resume is None else [None]

        async def work(running: _Running) -> None:
            async with node.capturing() as capturing:
                tasks = [running.one(capturing, node, order) for order in wanted]
                made.extend(await asyncio.gather(*tasks, return_exceptions=True))

        await until_signalled(running, work)
    return _without_failures(made)


def _without_failures(made: list[Any]) -> list[tuple[SiteCapture, FinishedCapture]]:
    """One site's failure is told and does not spoil the others; alone, it is the command's."""
    problems = [one for one in made if isinstance(one, BaseException)]
    for problem in problems:
        if len(made) == 1 or not isinstance(problem, WebstrataError):
            raise problem
        typer.echo(f"webstrata: {printable(problem)}", err=True)
    return [one for one in made if one is not None and one not in problems]
