"""`webstrata capture`: captures whole sites as of one instant, with a certificate."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.cli.capture.capture_result import exit_code
from webstrata.cli.capture.display import NoCaptureDisplay, capture_display
from webstrata.cli.capture.report import require_report, write_report
from webstrata.cli.capture.summary import document, picture, show, waiting_message
from webstrata.cli.crawl.loop import stopped_by_signals
from webstrata.cli.options import HomeOption, JsonOption, SetOption
from webstrata.cli.output import print_json, printable
from webstrata.cli.pages.watch import read_lines, read_list
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError, WebstrataError
from webstrata.settings import PoliteSettings
from webstrata.sharp.proof.page_observation import ComparedLayer

if TYPE_CHECKING:
    from webstrata.flows.capture.events import CaptureOrder
    from webstrata.flows.capture.proof import FinishedCapture
    from webstrata.flows.capture.service import CaptureService
    from webstrata.flows.capture.site_capture import SiteCapture
    from webstrata.node import Node


class CaptureOptions(Struct, frozen=True, kw_only=True):
    """Options of the command that are not part of the orders."""

    resume: str | None
    repair: int | None
    max_time_s: float | None
    within_s: float | None
    """Start in the quietest period within this time; None to start now."""
    out: Path | None


def command(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="URL…", help="Start pages of the sites.", show_default=False)
    ] = None,
    sharp: Annotated[
        bool, typer.Option("--sharp", help="Visit and revisit all pages, to prove which contents coexisted.")
    ] = False,
    delay: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Minimum time between two requests, like 2s; a site may require more."),
    ] = None,
    tau: Annotated[
        float,
        typer.Option(
            help="Probability, from 0 to 1, with which a page must be expected to be sharp; others are reported as doubtful."
        ),
    ] = 0.9,
    scope: Annotated[
        Literal["prefix", "host", "domain"],
        typer.Option(help="Which links belong to the site: those below the start page, of its host, or of its domain."),
    ] = "prefix",
    max_pages: Annotated[int | None, typer.Option(min=1, help="Maximum number of pages of a site.")] = None,
    max_time: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Time limit, like 90m. The capture then ends with the pages it has."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Weights of pages: URL (or pattern with *), tab, weight.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="FILE", help="The pages, one URL per line; links are then not followed.")
    ] = None,
    sitemap: Annotated[
        bool, typer.Option("--sitemap", help="Capture the pages that the site's sitemaps list.")
    ] = False,
    layer: Annotated[
        ComparedLayer | None, typer.Option(help="What decides whether two downloads of a page are the same.")
    ] = None,
    repair: Annotated[
        int | None,
        typer.Option(min=0, help="Maximum number of further passes while pages are blurred.", show_default=False),
    ] = None,
    when: Annotated[
        Literal["now", "best"],
        typer.Option(help="When to start: now, or in the quietest period of the site's week (best)."),
    ] = "now",
    within: Annotated[
        str, typer.Option(metavar="SPAN", help="With --when best: start within this time, like 24h.")
    ] = "24h",
    requisites: Annotated[bool, typer.Option(help="Capture images, styles and scripts too.")] = True,
    render: Annotated[
        bool, typer.Option("--render", help="Run the scripts of each page in Chromium, and compare what they show.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.wacz", help="Output file; default: ID.wacz in the captures folder of the home."),
    ] = None,
    chart: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw visits and revisits (.svg, .png, .pdf).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write what the certificate states as an HTML page.")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="ID", help="Continue a capture that ended early.")] = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Capture whole sites, each into one WACZ file with a signed certificate of the pages that coexisted.

    Exit codes: 0 complete; 3 partial (it ended early, or pages could not be reached); 1 failed (nothing was captured,
    no page is sharp although --sharp was given, or most pages could not be reached).
    """
    if bool(addresses) == (resume is not None):
        raise UsageError("name the sites to capture, or the capture to continue with --resume.")
    if out is not None and (out.suffix != ".wacz" or len(addresses or ()) > 1):
        raise UsageError("--out names one file that ends in .wacz, for one site.")
    if seeds is not None and sitemap:
        raise UsageError("the pages come from --seeds or from --sitemap. Choose one.")
    if repair and not sharp and resume is None:
        raise UsageError("--repair repeats pages that revisits found blurred. Add --sharp.")
    if report is not None and len(addresses or ()) > 1:
        raise UsageError("--report is for one site. `webstrata certificate report FILE.wacz` makes those of others.")
    _require_writable(out, chart, report)
    node = open_node(home, [*_delays(delay), *(settings or ())])
    if render:
        _require_browser()
    options = CaptureOptions(
        resume=resume,
        repair=repair,
        max_time_s=parse_span(max_time) if max_time is not None else None,
        within_s=parse_span(within) if when == "best" else None,
        out=out,
    )
    orders = _orders(node, addresses or [], sharp=sharp, tau=tau, scope=scope, layer=layer)
    limits: dict[str, Any] = {
        "max_time_s": options.max_time_s,
        "repair": repair or 0,
        "use_sitemap": sitemap,
        "render": render,
    }
    limits |= {"max_pages": max_pages} if max_pages is not None else {}
    limits |= {} if requisites else {"max_requisites": 0}
    limits |= {"weights": _weights(weights)} if weights is not None else {}
    limits |= {"listed": _listed(seeds)} if seeds is not None else {}
    captures = run_async(lambda: _main(node, [replace(order, **limits) for order in orders], options, quiet=quiet))
    documents = [document(capture, finished) for capture, finished in captures]
    if chart is not None:
        picture(chart, captures)
    if report is not None and captures:
        write_report(captures[0][1].file, report)
    if as_json:
        print_json({"captures": documents})
    else:
        for entry in documents:
            show(entry)
    is_missing = len(captures) < max(1, len(orders))
    if code := exit_code([entry["result"] for entry in documents] + (["failed"] if is_missing else [])):
        raise typer.Exit(code)


def _delays(delay: str | None) -> list[str]:
    """The settings for `--delay`. All requests of a capture go to one host, so its address needs no longer delay."""
    if delay is None:
        return []
    is_short = parse_span(delay) < PoliteSettings().address_delay
    return [f"polite.delay={delay}", *([f"polite.address_delay={delay}"] if is_short else ())]


def _require_writable(out: Path | None, chart: Path | None, report: Path | None) -> None:
    """Check the output files before the capture, which may take hours."""
    for file in (out, chart):
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageError(f"there is no folder for {file}. Create it, or choose another folder.")
    if report is not None:
        require_report(report)
    if chart is not None:
        from webstrata.plots.figure import check_format

        check_format(chart)


def _require_browser() -> None:
    from webstrata.node import missing_browser

    if missing := missing_browser():
        raise UsageError(f"{missing}. Without --render, pages are captured as the server sends them.")


def _orders(
    node: Node,
    addresses: list[str],
    *,
    sharp: bool,
    tau: float,
    scope: Literal["prefix", "host", "domain"],
    layer: ComparedLayer | None,
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
            tau=checked_tau(tau),
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
    """Weights by URL or pattern; URLs are canonicalised, patterns are kept as written."""
    weights: dict[str, float] = {}
    for number, line in enumerate(read_lines(source), 1):
        if not line.strip() or line.startswith("#"):
            continue
        address, _, weight = line.strip().partition("\t")
        try:
            value = float(weight)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise UsageError(f"{source}, line {number}: write URL, tab, weight (a number, 0 or more).")
        weights[address if "*" in address else urls.canonical(address)] = value
    return weights


class _RunningCaptures:
    """The running captures of the command, which are stopped together."""

    def __init__(self, options: CaptureOptions, display: NoCaptureDisplay) -> None:
        self.options = options
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

    async def run(
        self, service: CaptureService, node: Node, order: CaptureOrder | None
    ) -> tuple[SiteCapture, FinishedCapture] | None:
        """Run one capture and write its file. None if the command was stopped before the capture began."""
        if order is not None and self.options.within_s is not None:
            await self._wait_for_quietest(service, node, order, self.options.within_s)
        if self.stopping:
            return None
        if order is not None:
            capture = await service.begin(order, self.display.on_event)
        else:
            options = self.options
            capture = await service.resume(
                options.resume or "", self.display.on_event, repair=options.repair, max_time_s=options.max_time_s
            )
        self.captures.append(capture)
        if self._stop.is_set():
            capture.stop()
        await capture.run()
        out = self.options.out or node.home.captures / f"{capture.state.started.capture}.wacz"
        return capture, await service.finish(capture, out)

    async def _wait_for_quietest(
        self, service: CaptureService, node: Node, order: CaptureOrder, within_s: float
    ) -> None:
        start, past = await service.quietest_start(order, within_s)
        message = waiting_message(start.at, node.clock.now(), start.relative, len(past.changes_at))
        typer.echo(f"webstrata: {order.url}: {message}", err=True)
        sleeping = asyncio.ensure_future(node.clock.sleep_until(start.at))
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((sleeping, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (sleeping, stopping):
            task.cancel()


async def _main(
    node: Node, orders: list[CaptureOrder], options: CaptureOptions, *, quiet: bool
) -> list[tuple[SiteCapture, FinishedCapture]]:
    with capture_display(quiet=quiet) as display:
        logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="webstrata: %(message)s")
        running = _RunningCaptures(options, display)
        results: list[Any] = []
        to_run: list[CaptureOrder | None] = list(orders) if options.resume is None else [None]
        with stopped_by_signals(running):
            async with node.capturing() as service:
                tasks = [running.run(service, node, order) for order in to_run]
                results.extend(await asyncio.gather(*tasks, return_exceptions=True))
    return _without_failures(results)


def _without_failures(results: list[Any]) -> list[tuple[SiteCapture, FinishedCapture]]:
    """Report the failure of one of several sites and return the others; raise the failure of a single site."""
    problems = [result for result in results if isinstance(result, BaseException)]
    for problem in problems:
        if len(results) == 1 or not isinstance(problem, WebstrataError):
            raise problem
        typer.echo(f"webstrata: {printable(problem)}", err=True)
    return [result for result in results if result is not None and result not in problems]
