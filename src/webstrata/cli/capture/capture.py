"""`webstrata capture`: captures whole sites as of one instant, with a certificate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from msgspec.structs import replace

from webstrata import urls
from webstrata.cli.capture.capture_result import exit_code
from webstrata.cli.capture.report import require_report, write_report
from webstrata.cli.capture.resumed import CaptureFiles, recorded_run, require_same, resumed_name
from webstrata.cli.capture.running import CaptureOptions, run_captures
from webstrata.cli.capture.summary import document, picture, show
from webstrata.cli.options import HomeOption, JsonOption, SetOption
from webstrata.cli.output import print_json
from webstrata.cli.pages.bad_lines import require_good_lines, show_bad_lines
from webstrata.cli.pages.watch import MAX_WEIGHT, read_lines, read_list
from webstrata.cli.session import open_node, run_async
from webstrata.clock import parse_span
from webstrata.errors import UsageError
from webstrata.settings import PoliteSettings
from webstrata.sharp.proof.page_observation import ComparedLayer

if TYPE_CHECKING:
    from webstrata.flows.capture.events import CaptureOrder
    from webstrata.node import Node


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
        float | None,
        typer.Option(
            help="Probability, from 0 to 1, with which a page must be expected to be sharp; others are reported as "
            "doubtful. Default: 0.9.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        Literal["prefix", "host", "domain"] | None,
        typer.Option(
            help="Which links belong to the site: those below the start page, of its host, or of its domain. "
            "Default: prefix.",
            show_default=False,
        ),
    ] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, max=10**9, help="Maximum number of pages of a site.")] = None,
    max_time: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN", help="Time limit, like 90m, or none. The capture then ends with the pages it has."
        ),
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
        typer.Option(
            min=0, max=1000, help="Maximum number of further passes while pages are blurred.", show_default=False
        ),
    ] = None,
    when: Annotated[
        Literal["now", "best"],
        typer.Option(help="When to start: now, or in the quietest period of the site's week (best)."),
    ] = "now",
    within: Annotated[
        str, typer.Option(metavar="SPAN", help="With --when best: start within this time, like 24h.")
    ] = "24h",
    requisites: Annotated[
        bool | None,
        typer.Option(
            "--requisites/--no-requisites",
            help="Capture images, styles and scripts too. Default: yes.",
            show_default=False,
        ),
    ] = None,
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
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Continue a capture that ended early, with its options; last: the latest one that did.",
        ),
    ] = None,
    home: HomeOption = None,
    settings: SetOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Capture whole sites, each into one WACZ file with a signed certificate of the pages that coexisted.

    Exit codes: 0 complete; 3 partial (it ended early, or pages could not be reached); 1 failed (nothing was captured,
    no page is sharp although --sharp was given, or most pages could not be reached).

    --resume uses the options of the first run again; --delay, --set, --max-time, --repair, --out, --picture and
    --report replace them if they are given. Other options may not differ.
    """
    if bool(addresses) == (resume is not None):
        raise UsageError("name the sites to capture, or the capture to continue with --resume.")
    if out is not None and (out.suffix != ".wacz" or len(addresses or ()) > 1):
        raise UsageError("--out names one file that ends in .wacz, for one site.")
    if seeds is not None and sitemap:
        raise UsageError("the pages come from --seeds or from --sitemap. Choose one.")
    if repair and not sharp and resume is None:
        raise UsageError("--repair repeats pages that revisits found blurred. Add --sharp.")
    if when == "best" and resume is not None:
        raise UsageError("--when is for the start of a capture. Leave it out to continue one.")
    if report is not None and len(addresses or ()) > 1:
        raise UsageError("--report is for one site. `webstrata certificate report FILE.wacz` makes those of others.")
    files = CaptureFiles(out=out, picture=chart, report=report)
    flags = [*_delays(delay), *(settings or ())]
    node = open_node(home, flags)
    listed = _listed(seeds) if seeds is not None else None
    page_weights = _weights(weights) if weights is not None else None
    if resume is not None:
        resume = resumed_name(node, resume)
        first = node.recorded_capture(resume)
        given = {
            "--sharp": sharp or None,
            "--tau": tau,
            "--scope": scope,
            "--layer": layer,
            "--max-pages": max_pages,
            "--weights": page_weights,
            "--seeds": listed,
            "--sitemap": sitemap or None,
            "--render": render or None,
            "--requisites": requisites,
        }
        require_same(first.order, given)
        files, flags, render = files.extended(first.run), [*first.run.settings, *flags], first.order.render
        node = open_node(home, flags)
    _require_writable(files)
    node.require_usable()
    if render:
        _require_browser()
    options = CaptureOptions(
        resume=resume,
        repair=repair,
        max_time_s=_max_time(max_time),
        within_s=parse_span(within) if when == "best" else None,
        out=files.out,
        run=recorded_run(flags, files),
    )
    orders = _orders(
        node, addresses or [], sharp=sharp, tau=0.9 if tau is None else tau, scope=scope or "prefix", layer=layer
    )
    limits: dict[str, Any] = {
        "max_time_s": None if options.max_time_s == math.inf else options.max_time_s,
        "repair": repair or 0,
        "use_sitemap": sitemap,
        "render": render,
        "listed": listed,
        "weights": page_weights or {},
    }
    limits |= {"max_pages": max_pages} if max_pages is not None else {}
    limits |= {"max_requisites": 0} if requisites is False else {}
    captures = run_async(
        lambda: run_captures(node, [replace(order, **limits) for order in orders], options, quiet=quiet)
    )
    documents = [document(capture, finished) for capture, finished in captures]
    if files.picture is not None:
        picture(files.picture, captures)
    if files.report is not None and captures:
        write_report(captures[0][1].file, files.report)
    if as_json:
        print_json({"captures": documents})
    else:
        for entry in documents:
            show(entry)
    is_missing = len(captures) < max(1, len(orders))
    if code := exit_code([entry["result"] for entry in documents] + (["failed"] if is_missing else [])):
        raise typer.Exit(code)


def _max_time(text: str | None) -> float | None:
    """The time limit in seconds; infinite for `none`, None if the option is not given."""
    if text is None:
        return None
    return math.inf if text.strip().lower() == "none" else parse_span(text)


def _delays(delay: str | None) -> list[str]:
    """The settings for `--delay`. All requests of a capture go to one host, so its address needs no longer delay."""
    if delay is None:
        return []
    is_short = parse_span(delay) < PoliteSettings().address_delay
    return [f"polite.delay={delay}", *([f"polite.address_delay={delay}"] if is_short else ())]


def _require_writable(files: CaptureFiles) -> None:
    """Check the output files before the capture, which may take hours."""
    for file in (files.out, files.picture):
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageError(f"there is no folder for {file}. Create it, or choose another folder.")
    if files.report is not None:
        require_report(files.report)
    if files.picture is not None:
        from webstrata.plots.figure import check_format

        check_format(files.picture)


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
    show_bad_lines(bad)
    require_good_lines(source, len(pages), bad)
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
        if not 0 <= value <= MAX_WEIGHT:
            raise UsageError(f"{source}, line {number}: write URL, tab, weight (a number from 0 to {MAX_WEIGHT:g}).")
        weights[address if "*" in address else urls.canonical(address)] = value
    return weights
