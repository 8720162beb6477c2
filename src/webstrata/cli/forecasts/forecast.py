"""`webstrata forecast`: how often a page changes, when it will change next, and where this knowledge is from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from webstrata.cli.forecasts.json_rows import JsonRows
from webstrata.cli.options import HomeOption, HostOption, JsonOption, OptionalUrlArgument, TagOption
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, printable, progress_bar
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S, iso, parse_instant, parse_span, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.flows.updates.page_forecast import PageForecasts, UpdateForecastReport
    from webstrata.ports import Store

Layer = Literal["content", "links", "external-links", "internal-links", "documents"]
LayerOption = Annotated[
    Layer,
    typer.Option(
        "--update",
        metavar="LAYER",
        help="What counts as an update: a change of the content, or a link that no earlier version had: links (any), "
        "external-links, internal-links, documents.",
    ),
]
SiteOption = Annotated[
    bool,
    typer.Option("--site", help="Forecast whole sites: an update of any page is an update of its site."),
]
DepthOption = Annotated[
    int,
    typer.Option(
        "--depth", metavar="N", min=0, max=100, help="With --site: pages to this depth; 0 is only the homepage."
    ),
]

_WITHIN = "7d"


def command(
    address: OptionalUrlArgument = None,
    every: Annotated[bool, typer.Option("--all", help="Forecast all known pages.")] = False,
    within: Annotated[
        str | None,
        typer.Option(
            "--within",
            metavar="DURATION",
            help=f"Probability of an update until then. Default: {_WITHIN}.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="The same as a time, like 2026-12-01.", show_default=False),
    ] = None,
    layer: LayerOption = "content",
    site: SiteOption = False,
    depth: DepthOption = 2,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the forecast (.svg, .png, .pdf).", show_default=False),
    ] = None,
    tag: TagOption = None,
    host: HostOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forecast the changes of a page: its rate with the 95 % interval, the probability of a change, when the next one is
    expected, and where the knowledge is from.

    Pages that are only known from copies in archives have a forecast, too. --tag and --host select pages of --all.
    """
    if every == (address is not None):
        raise UsageError("give either a URL or --all.")
    if every and (plot is not None or site):
        raise UsageError("--plot and --site are for a single URL. Leave out --all.")
    if not every and (tag or host):
        raise UsageError("--tag and --host select pages of --all. Leave them out, or replace the URL by --all.")
    if plot is not None:
        _check_plot(plot)
    node = open_node(home)
    now = node.clock.now()
    by = _until(within, at, now)
    from webstrata.flows.updates.page_forecast import PageForecasts

    def forecasts(store: Store) -> PageForecasts:
        return PageForecasts(
            store, node.schedule(), layer, now, by, with_curve=plot is not None, classes=node.page_classes()
        )

    async def one() -> UpdateForecastReport:
        async with node.store() as store:
            return await _forecast_of(store, forecasts(store), address or "", depth if site else None)

    async def all_pages() -> None:
        async with node.store() as store:
            from webstrata.flows.updates.known_pages import KnownPageFilter

            await _print_all(forecasts(store).of_all(KnownPageFilter(tag=tag, host=host)), as_json=as_json)

    if every:
        run_async(all_pages)
        return
    found = run_async(one)
    if plot is not None:
        draw(plot, found)
    if as_json:
        print_json(forecast_json(found))
    else:
        _show(found)


async def _forecast_of(store: Store, forecasts: PageForecasts, address: str, depth: int | None) -> UpdateForecastReport:
    """The forecast of a page, or of its site to this depth."""
    from webstrata.flows.updates.known_pages import pages_of_site
    from webstrata.flows.versions import watched_page

    page = await watched_page(store, address)
    if depth is None:
        return (await forecasts.of_pages([page]))[0]
    return await forecasts.of_site(page.url, await pages_of_site(store, page.url, depth))


def _until(within: str | None, at: str | None, now: float) -> float:
    if within is not None and at is not None:
        raise UsageError("--within and --at are two ways to say the same. Give one of them.")
    if at is None:
        return now + parse_span(within if within is not None else _WITHIN)
    until = parse_instant(at)
    if until < now:
        raise UsageError(f"--at {at} is in the past. A forecast is for a time to come.")
    return until


def forecast_json(found: UpdateForecastReport) -> dict[str, Any]:
    """The document of one page or site."""
    from webstrata.flows.updates.page_forecast import QUANTILES

    return {
        "url": found.url,
        "update": found.layer,
        "rate_per_day": found.rate_per_day,
        "low": found.low,
        "high": found.high,
        "p_change": found.p_change,
        "by": iso(found.by),
        "p_now": found.p_now,
        "at": iso(found.at),
        "seen_at": iso_or_none(found.seen_at),
        "next_update": [
            {"p": share, "by": iso_or_none(at)} for share, at in zip(QUANTILES, found.next_update, strict=True)
        ],
        "observations": found.observations,
        "updates": found.updates,
        "pages": found.pages,
        "sources": [{"source": one.source, "observations": one.observations} for one in found.sources],
        "class": found.page_class,
    }


async def _print_all(batches: AsyncIterator[list[UpdateForecastReport]], *, as_json: bool) -> None:
    """Each batch as it is computed: there may be millions of pages."""
    rows = JsonRows() if as_json else None
    with progress_bar("forecasting", unit="rows") as on_progress:
        async for batch in batches:
            if rows is not None:
                rows.write([forecast_json(one) for one in batch])
            else:
                for one in batch:
                    typer.echo(_line(one))
            on_progress(len(batch))
    if rows is not None:
        rows.close()


def _line(found: UpdateForecastReport) -> str:
    return f"{found.p_change:5.1%}  {_every(found.rate_per_day):>8}  {printable(found.url)}"


def _show(found: UpdateForecastReport) -> None:
    from webstrata.flows.updates.page_forecast import QUANTILES

    pages = f" ({counted(found.pages, 'page')} of the site)" if found.pages > 1 else ""
    typer.echo(printable(found.url) + pages)
    typer.echo(f"  updates     {_layer_text(found.layer)}")
    typer.echo(
        f"  rate        {found.rate_per_day:.4g} a day, one in {_every(found.rate_per_day)} "
        f"(95 %: {_every(found.high)} to {_every(found.low)})"
    )
    since = f"since {date_time(found.seen_at)}" if found.seen_at is not None else "never seen: as of any page"
    typer.echo(f"  now         {found.p_now:.1%} ({since})")
    typer.echo(f"  later       {found.p_change:.1%} by {date_time(found.by)}")
    for share, at in zip(QUANTILES, found.next_update, strict=True):
        name = "next update" if share == QUANTILES[0] else ""
        typer.echo(f"  {name:<11} {share:.0%} {f'by {date_time(at)}' if at is not None else 'later than 400 days'}")
    if found.page_class is not None:
        typer.echo(f"  class       {printable(found.page_class)}")
    seen = f"{counted(found.updates, 'update')} in {counted(found.observations, 'interval')}"
    sources = ", ".join(f"{printable(one.source)} ({one.observations})" for one in found.sources)
    typer.echo(f"  knowledge   {seen}; from {sources}")


def _every(rate: float) -> str:
    return span(DAY_S / rate) if rate > 0 else "never"


def _layer_text(layer: str) -> str:
    return "changes of the content" if layer == "content" else f"new {layer.replace('-', ' ')}"


def _check_plot(plot: Path) -> None:
    try:
        from webstrata.plots.figure import check_format
    except ImportError:
        raise UsageError("--plot needs matplotlib: `pip install 'webstrata[lab]'`.") from None
    check_format(plot)


def draw(plot: Path, found: UpdateForecastReport) -> None:
    """Draw the forecast of a page or site."""
    from webstrata.flows.updates.page_forecast import QUANTILES
    from webstrata.plots.forecast import ForecastCurve, draw_forecast

    sources = ", ".join(f"{one.source} ({one.observations})" for one in found.sources)
    drawn = ForecastCurve(
        title=found.url,
        subtitle=f"{_layer_text(found.layer)}: one in {_every(found.rate_per_day)}; from {sources}",
        curve=found.curve,
        now=found.at,
        by=found.by,
        p_change=found.p_change,
        quantiles=list(zip(QUANTILES, found.next_update, strict=True)),
    )
    draw_forecast(plot, drawn)
