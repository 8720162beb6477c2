"""`webstrata estimate FILE` and `estimate --store`: the change rates of pages, by every estimator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webstrata.cli.files.observations import PageObservations, read_observations
from webstrata.cli.options import HomeOption, HostOption, JsonOption, TagOption
from webstrata.cli.output import counted, iso_or_none, print_json, print_table
from webstrata.clock import RealClock, parse_instant
from webstrata.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

_ENOUGH_PAGES = 20
"""With fewer pages the prior is not learned from the file."""
_SHOWN = ("irregular", "bayesian", "forgetting")


def command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="File of observations: one row per visit, with the columns page, time and changed; not with --store.",
            show_default=False,
        ),
    ] = None,
    from_store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Use the visits that the home has logged and the copies that it imported, instead of a file.",
        ),
    ] = False,
    copies: Annotated[
        bool, typer.Option("--copies/--no-copies", help="With --store: also use imported copies, or only own visits.")
    ] = True,
    tag: TagOption = None,
    host: HostOption = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            metavar="NAME",
            help="Use only this estimator, like poisson. Default: all of them.",
            show_default=False,
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            "--now", metavar="TIME", help="Time at which the observations end, like 2026-11-15. Default: now."
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how often pages change, from observations: rows of page, time, changed (CSV, JSON lines, Parquet), which
    needs no home; or from the home's own visits and the copies of archives that it imported.

    --tag and --host select pages of the home.
    """
    from webstrata.lab.estimators.registry import ESTIMATORS

    for name in estimator or ():
        if name not in ESTIMATORS:
            raise UsageError(f"no estimator {name!r}. Known: {', '.join(ESTIMATORS)}.")
    present = parse_instant(now) if now else RealClock().now()
    observations = _read(file, present, home, tag, host, from_store=from_store, copies=copies)
    names = [name for name in ESTIMATORS if not estimator or name in estimator]
    document = {"file": None if file is None else str(file), **_estimated(observations, names)}
    if as_json:
        print_json(document)
    else:
        _show(document, names)


def _read(
    file: Path | None,
    now: float,
    home: Path | None,
    tag: str | None,
    host: str | None,
    *,
    from_store: bool,
    copies: bool,
) -> PageObservations:
    """The observations of the file or of the home."""
    if from_store is (file is not None):
        raise UsageError("give either a FILE of observations or --store.")
    if file is None:
        from webstrata.cli.files.store_observations import store_observations

        return store_observations(home, now, tag=tag, host=host, with_copies=copies)
    if tag or host or home:
        raise UsageError("--tag, --host and --home select pages of a home: add --store, or leave them out.")
    return read_observations(file, now)


def _estimated(observations: PageObservations, names: list[str]) -> dict[str, Any]:
    from webstrata.lab.estimators.bursts import burstiness
    from webstrata.lab.estimators.regimes import breaks
    from webstrata.lab.estimators.registry import ESTIMATORS
    from webstrata.predict.prior import ANY_PAGE, fitted

    history = observations.visits
    enough = int((history.counts > 0).sum()) >= _ENOUGH_PAGES
    prior = fitted(history) if enough else ANY_PAGE
    estimates = {name: ESTIMATORS[name](history, prior) for name in names}
    bursts, begins = burstiness(history), breaks(history)
    lasting = history.lasting()
    rows = []
    for number, page in enumerate(observations.pages):
        start = int(begins[number])
        since = (
            lasting.at_days[lasting.offsets[number] + start - 1] * 86_400 if start else observations.first_at[number]
        )
        rows.append(
            {
                "page": page,
                "visits": int(history.counts[number]) + 1,
                "changes": int(history.changed[history.offsets[number] : history.offsets[number + 1]].sum()),
                "first": iso_or_none(observations.first_at[number]),
                "last": iso_or_none(observations.last_at[number]),
                "estimates": {
                    name: {
                        "rate_per_day": _number(estimate.rate[number]),
                        "error": _number(estimate.error[number]),
                        "low": _number(estimate.low[number]),
                        "high": _number(estimate.high[number]),
                        "has_interval": estimate.has_interval,
                    }
                    for name, estimate in estimates.items()
                },
                "clustering": _number(bursts.clustering[number]),
                "dispersion": _number(bursts.dispersion[number]),
                "regime_since": iso_or_none(round(float(since), 3)),
            }
        )
    learned = int((history.counts > 0).sum()) if enough else 0
    return {"prior": {"shape": prior.shape, "days": prior.days, "pages": learned}, "pages": rows}


def _number(value: np.float64) -> float | None:
    """The value for JSON, which has neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None


def _show(document: dict[str, Any], names: list[str]) -> None:
    pages = document["pages"]
    if len(pages) == 1:
        (page,) = pages
        typer.echo(f"{page['page']}: {counted(page['visits'], 'visit')}, {counted(page['changes'], 'change')} seen")
        rows = [(name, *_words(page["estimates"][name])) for name in names]
        print_table(("estimator", "changes a day", "about every", "95 % interval"), rows)
        return
    shown = [name for name in _SHOWN if name in names] or names
    print_table(
        ("visits", "changes", *shown, "page"),
        [
            (
                row["visits"],
                row["changes"],
                *(_short(row["estimates"][name]) for name in shown),
                row["page"],
            )
            for row in pages
        ],
    )
    prior = document["prior"]
    source = f"learned from {counted(prior['pages'], 'page')}" if prior["pages"] else "that of any page"
    typer.echo(f"prior: {prior['shape']:.3g} changes in {prior['days']:.3g} days, {source}")


def _short(estimate: dict[str, Any]) -> str:
    """Mean time between changes, and its interval if there is one."""
    _, every, interval = _words(estimate)
    return f"{every} {interval}" if estimate["has_interval"] else every


def _words(estimate: dict[str, Any]) -> tuple[str, str, str]:
    """Rate, mean time between changes and the ends of its 95 % interval, as text."""
    rate, low, high = estimate["rate_per_day"], estimate["low"], estimate["high"]
    if rate is None:
        return "-", "-", ""
    every = f"{1 / rate:.3g} d" if rate > 0 else "never seen"
    if not estimate["has_interval"]:
        return f"{rate:.4g}", every, "no interval"
    shortest = "0" if high is None else f"{1 / high:.3g}"
    return f"{rate:.4g}", every, f"({shortest} d to {f'{1 / low:.3g} d' if low else 'never'})"
