"""The picture of a forecast: a real page, known only from the copies that an archive might have."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import numpy as np

from webstrata.cli.forecasts.forecast import draw
from webstrata.clock import DAY_S
from webstrata.flows.updates.page_forecast import PageForecasts, UpdateForecastReport
from webstrata.home import Home
from webstrata.lab.archive_samples import archive_copies
from webstrata.lab.policies.histories import Histories, shipped_histories
from webstrata.node import Node
from webstrata.records import ArchivedCopy
from webstrata.settings import Settings

_URL = "https://docs.example/page"
_CORPUS, _CHANGES_A_YEAR = "webpages", 6
_PAST_DAYS = 730.0
_AHEAD_DAYS = 30.0


def draw_forecast_figure(file: Path) -> None:
    """Draw the forecast of the next 30 days from the copies of two years."""
    draw(file, asyncio.run(_forecast()))


async def _forecast() -> UpdateForecastReport:
    histories = _chosen(shipped_histories())
    until = float(histories.until[0])
    with tempfile.TemporaryDirectory() as folder:
        node = Node(Home.create(Path(folder) / "home")[0], Settings())
        async with node.store() as store:
            await store.copies.add(_copies(histories, until), None, until)
            page = await store.pages.get(_URL)
            assert page is not None
            by = until + _AHEAD_DAYS * DAY_S
            forecasts = PageForecasts(store, node.schedule(), "content", until, by, with_curve=True)
            return (await forecasts.of_pages([page]))[0]


def _chosen(histories: Histories) -> Histories:
    """The first page with about this number of changes in the last two years."""
    for row in np.flatnonzero(np.array(histories.corpus) == _CORPUS):
        one = histories.take(np.array([row]))
        if int((one.changes > one.until[0] - _PAST_DAYS * DAY_S).sum()) == 2 * _CHANGES_A_YEAR:
            return one
    raise LookupError("no page of the shipped histories changes as often")


def _copies(histories: Histories, until: float) -> list[ArchivedCopy]:
    """Copies with the digest of the page's version at their time."""
    end = until / DAY_S
    _, at = archive_copies(np.array([end - _PAST_DAYS]), end, seed=1)
    version = np.searchsorted(histories.changes, at * DAY_S, side="right")
    return [
        ArchivedCopy(url=_URL, at=day * DAY_S, archive="archive.example", digest=f"seen:{number}")
        for day, number in zip(at.tolist(), version.tolist(), strict=True)
    ]
