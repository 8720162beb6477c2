"""`webstrata select`: the pages that are most probably updated by a given time, as a list or a seed file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from webstrata.cli.forecasts.forecast import DepthOption, LayerOption
from webstrata.cli.forecasts.seed_files import Seed, SeedFormat, format_of, seed_lines
from webstrata.cli.options import HomeOption, HostOption, JsonOption, TagOption
from webstrata.cli.output import (
    counted,
    date_time,
    json_bytes,
    output_to,
    print_json,
    print_table,
)
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S, iso, parse_span, span
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.flows.updates.selection import Method, PageSelection, SelectedPage, SelectionRule
    from webstrata.flows.updates.threshold_choice import ThresholdChoice
    from webstrata.node import Node

_WITHIN, _WINDOW = "7d", "12w"


def command(
    within: Annotated[
        str, typer.Option("--within", metavar="DURATION", help="Probability of an update until then.")
    ] = _WITHIN,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", metavar="P", help="Pages with at least this probability.", show_default=False),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", metavar="K", min=1, help="The K most probable pages.", show_default=False),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="VISITS",
            help="As many pages as this budget allows until then: 2000 in all, 500/day, 20/hour.",
            show_default=False,
        ),
    ] = None,
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Show which threshold would have selected best in the past, instead of selecting."),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="METHOD",
            help="How the probability is computed: value (the forecast of the default policy) or hacs (the rate of the "
            "window and the last update in it). Default: value.",
            show_default=False,
        ),
    ] = None,
    layer: LayerOption = "content",
    window: Annotated[
        str,
        typer.Option(
            "--window", metavar="DURATION", help="With --by hacs: the history that counts; `all` for all of it."
        ),
    ] = _WINDOW,
    site: Annotated[
        bool, typer.Option("--site", help="Select sites: an update of any page is an update of its site.")
    ] = False,
    depth: DepthOption = 2,
    watched: Annotated[
        bool,
        typer.Option("--watched", help="Only watched pages; else also those that are only known from copies."),
    ] = False,
    tag: TagOption = None,
    host: HostOption = None,
    format_: Annotated[
        SeedFormat | None,
        typer.Option(
            "--format",
            help="Format of the list. Default: a table, or by the end of the file's name.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the list to a file.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Select the pages that are worth a visit: those with the highest probability of an update until a given time.

    The list is sorted by this probability, and each page has a reason. It can be the seed file of another crawler.
    """
    from webstrata.flows.updates.known_pages import KnownPageFilter
    from webstrata.flows.updates.selection import SelectionRule

    within_s = parse_span(within)
    if not within_s > 0:
        raise UsageError("--within is the time until which pages may be updated: give more than 0.")
    rule = SelectionRule(
        layer=layer,
        method=_method(by),
        window_days=_window_days(window),
        threshold=_threshold(threshold),
        top=_top(top, budget, within_s),
        site_depth=depth if site else None,
    )
    choice = KnownPageFilter(tag=tag, host=host, watched_only=watched)
    if tune:
        if threshold is not None or top is not None or budget is not None or out is not None or format_ is not None:
            raise UsageError("--tune selects nothing: leave out --threshold, --top, --budget, --format and --out.")
        _tune(open_node(home), rule, choice, within_s, as_json=as_json)
        return
    if threshold is None and rule.top is None:
        raise UsageError("give --threshold, --top or --budget: how many pages are wanted? --tune helps to choose.")
    if as_json and format_ not in (None, "json"):
        raise UsageError(f"--json prints a JSON document, not {format_}. Leave out one of both.")
    chosen = format_of(out, "json" if as_json and format_ is None and out is None else format_)
    node = open_node(home)
    now = node.clock.now()
    until = now + within_s

    async def select() -> PageSelection:
        from webstrata.flows.updates.selection import select_pages

        async with node.store() as store:
            return await select_pages(store, node.schedule(), rule, choice, now=now, by=until)

    _write(node, run_async(select), rule, until, out, chosen, as_json=as_json)


# ── options ─────────────────────────────────────────────────────────────────────────────────────────────────


def _method(name: str | None) -> Method:
    if name in (None, "value"):
        return "value"
    if name == "hacs":
        return "hacs"
    raise UsageError(f"--by {name!r} is not a method. Write value or hacs.")


def _threshold(value: float | None) -> float:
    if value is not None and not 0 <= value <= 1:
        raise UsageError("--threshold is a probability from 0 to 1.")
    return value or 0.0


def _window_days(text: str) -> float:
    if text == "all":
        return float("inf")
    days = parse_span(text) / DAY_S
    if not days > 0:
        raise UsageError("--window is the history that counts: give more than 0, or `all`.")
    return days


def _top(top: int | None, budget: str | None, within_s: float) -> int | None:
    """The largest number of pages; the smaller of both options."""
    if budget is None:
        return top
    allowed = _allowed(budget, within_s)
    return allowed if top is None else min(top, allowed)


def _allowed(budget: str, within_s: float) -> int:
    """The visits that a budget allows in this time."""
    if budget.strip().isdecimal():
        allowed = int(budget)
    else:
        from webstrata.schedule.budget import parse_rate

        rate = parse_rate(budget)
        if rate.unit != "visits" or rate.per_page:
            raise UsageError(f"--budget {budget} is not a number of visits. Write 2000, 500/day or 20/hour.")
        allowed = int(rate.amount * within_s / DAY_S)
    if allowed < 1:
        raise UsageError(f"--budget {budget} does not allow a visit in {span(within_s)}. Give more.")
    return allowed


# ── output ──────────────────────────────────────────────────────────────────────────────────────────────────


def _write(
    node: Node,
    found: PageSelection,
    rule: SelectionRule,
    until: float,
    out: Path | None,
    chosen: SeedFormat | None,
    *,
    as_json: bool,
) -> None:
    seeds = [Seed(row.url, row.p, reason(row, rule)) for row in found.rows]
    if chosen is None:
        rows = [(f"{seed.p:.1%}", seed.url, seed.reason) for seed in seeds]
        print_table(("p", "page", "reason"), rows, max_width=60)
        typer.echo(_summary(found, until), err=True)
        return
    if chosen == "json":
        with output_to(out) as file:
            file.write(json_bytes(_document(found, seeds, until)))
    elif chosen == "parquet":
        _write_parquet(node, out or Path(), seeds)
    else:
        with output_to(out) as file:
            file.writelines(seed_lines(chosen, seeds))
    if out is not None and str(out) != "-":
        if as_json:
            print_json({"file": str(out), "format": chosen, "rows": len(seeds)})
        else:
            typer.echo(f"{counted(len(seeds), 'page')}: {out}")
    if not as_json:
        typer.echo(_summary(found, until), err=True)


def _document(found: PageSelection, seeds: list[Seed], until: float) -> dict[str, Any]:
    return {
        "rows": [
            {
                "url": seed.url,
                "p": seed.p,
                "reason": seed.reason,
                "rate_per_day": row.rate_per_day,
                "seen_at": None if row.seen_at is None else iso(row.seen_at),
            }
            for seed, row in zip(seeds, found.rows, strict=True)
        ],
        "by": iso(until),
        "pages": found.pages,
        "unknown": found.unknown,
    }


def _summary(found: PageSelection, until: float) -> str:
    unknown = f"; {counted(found.unknown, 'page')} without a forecast" if found.unknown else ""
    return f"webstrata: {len(found.rows)} of {counted(found.pages, 'page')} selected, by {date_time(until)}{unknown}"


def reason(row: SelectedPage, rule: SelectionRule) -> str:
    """Why a page is selected, in words."""
    seen = f"{counted(row.updates, 'update')} in {counted(row.intervals, 'interval')}"
    every = f"one in {span(DAY_S / row.rate_per_day)}" if row.rate_per_day > 0 else "no rate"
    if rule.method == "hacs":
        window = "" if rule.window_days == float("inf") else f" of the last {span(rule.window_days * DAY_S)}"
        last = "" if row.since is None or not row.updates else f", the last about {date_time(row.since)[:10]}"
        return f"{seen}{window} ({every}){last}"
    return f"{every} expected; last seen {date_time(row.seen_at)[:16]}; {seen}"


def _write_parquet(node: Node, out: Path, seeds: list[Seed]) -> None:
    from webstrata.flows.exported_tables import TableColumn
    from webstrata.lab.parquet_table import ParquetTable

    columns = (
        TableColumn("url", "text", lambda seed: seed.url),
        TableColumn("p", "number", lambda seed: seed.p),
        TableColumn("reason", "text", lambda seed: seed.reason),
    )
    about = {"software": node.software, "table": "webstrata select", "created": iso(node.clock.now())}
    with output_to(out) as file:
        table = ParquetTable(file, columns, about)
        for begin in range(0, len(seeds), 50_000):
            table.write(seeds[begin : begin + 50_000])
        table.close()


# ── the threshold ───────────────────────────────────────────────────────────────────────────────────────────


def _tune(node: Node, rule: SelectionRule, choice: Any, within_s: float, *, as_json: bool) -> None:
    async def judge() -> ThresholdChoice:
        from webstrata.flows.updates.threshold_choice import chosen_threshold

        async with node.store() as store:
            return await chosen_threshold(store, rule, choice, now=node.clock.now(), ahead_s=within_s)

    found = run_async(judge)
    if as_json:
        print_json(
            {
                "rows": [msgspec.to_builtins(row) for row in found.rows],
                "best": None if found.best is None else msgspec.to_builtins(found.best),
                "dates": [iso(date) for date in found.dates],
                "judged": found.judged,
                "updated": found.updated,
            }
        )
        return
    print_table(
        ("threshold", "selected", "precision", "recall", "F1"),
        [
            (f"{row.theta:.2f}", row.selected, f"{row.precision:.3f}", f"{row.recall:.3f}", f"{row.f1:.3f}")
            for row in found.rows
        ],
    )
    dates = f"{counted(len(found.dates), 'date')} from {date_time(found.dates[0])[:10]} on"
    typer.echo(f"{counted(found.judged, 'forecast')} at {dates}, {counted(found.updated, 'update')}")
    if found.best is None:
        typer.echo("no threshold can be chosen: no page was updated in this time, or none was seen again after it.")
        return
    typer.echo(f"best: --threshold {found.best.theta:.2f}, F1 {found.best.f1:.3f}")
