"""What `watch`, `interval` and `snooze` share: rhythms and windows as options, and setting them for stored pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from msgspec import Struct
from msgspec.structs import replace

from webstrata.cli.output import counted, iso_or_none
from webstrata.cli.pages.known_tags import require_tags
from webstrata.clock import DAY_S, parse_span
from webstrata.errors import NothingFound, UsageError
from webstrata.flows.versions import watched_page
from webstrata.ports import Store
from webstrata.records import Page, PageRole, PageState, VisitTimes
from webstrata.schedule.visit_times import allowed_at, parse_every, rhythm_at, shown_next_at, stored_windows
from webstrata.schedule.visit_windows import parse_windows

NONE = "none"

EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="SPAN",
        help="Visit in a fixed rhythm, like 6h, whatever the policy says; none ends the rhythm.",
        show_default=False,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WINDOWS",
        help='Visit only in these windows, like "Mon-Fri 9-17, Sat 10-12 Europe/Vienna"; none removes them.',
        show_default=False,
    ),
]


class GivenTimes(Struct, frozen=True, kw_only=True):
    """The visit times that a command sets. None: unchanged; `none`: removed."""

    every: float | str | None = None
    windows: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.every is None and self.windows is None

    @property
    def every_s(self) -> float | None:
        """The rhythm of a new page."""
        return self.every if isinstance(self.every, float) else None

    @property
    def new_windows(self) -> str | None:
        """The windows of a new page."""
        return None if self.windows == NONE else self.windows

    def site_fields(self) -> dict[str, Any]:
        """The fields of a site that change."""
        every = {} if self.every is None else {"every_s": self.every_s}
        return every if self.windows is None else {**every, "windows": self.new_windows}

    def applied(self, page: Page) -> VisitTimes:
        return VisitTimes(
            page_id=page.id,
            every_s=page.every_s if self.every is None else self.every_s,
            windows=page.windows if self.windows is None else self.new_windows,
            snoozed_until=page.snoozed_until,
        )


def given_times(every: str | None, at: str | None) -> GivenTimes:
    """The values of --every and --at. Raises UsageError if they are not valid."""
    rhythm: float | str | None = every
    if every is not None and every.strip().lower() != NONE:
        rhythm = parse_every(parse_span(every))
    windows = None
    if at is not None:
        windows = NONE if at.strip().lower() == NONE else str(parse_windows(at))
    return GivenTimes(every=NONE if isinstance(rhythm, str) else rhythm, windows=windows)


async def selected_pages(store: Store, addresses: Sequence[str], tag: str | None) -> list[Page]:
    """The named pages, or the active pages with a tag. Raises NothingFound if no page has the tag."""
    if bool(addresses) == (tag is not None):
        raise UsageError("name either URLs or a --tag.")
    if tag is None:
        return [await watched_page(store, address) for address in addresses]
    await require_tags(store, [tag])
    pages = [page async for page in store.pages.stream(tag=tag, state=PageState.ACTIVE.value)]
    pages = [page for page in pages if page.role is not PageRole.REQUISITE]
    if not pages:
        raise NothingFound(f"no watched page has the tag {tag!r}. `webstrata tag` lists all tags.")
    return pages


async def set_times(store: Store, pages: Sequence[Page], given: GivenTimes, now: float) -> None:
    """Set rhythms and windows, and move the next visits to the times that they give."""
    times = [given.applied(page) for page in pages]
    next_at = {page.id: _next_at(page, new, now) for page, new in zip(pages, times, strict=True)}
    await store.pages.set_visit_times(times, next_at)


def _next_at(page: Page, times: VisitTimes, now: float) -> float:
    """The next visit by new visit times. Windows that are removed no longer delay it."""
    at = now if page.next_at is None else page.next_at
    if page.last_visit_at is None:
        at = min(at, now)
    elif times.every_s is not None:
        at = rhythm_at(page.added_at, times.every_s, page.last_visit_at)
    elif page.windows is not None and page.interval_s is not None and not page.failures:
        at = min(at, page.last_visit_at + page.interval_s)
    return allowed_at(replace(times, snoozed_until=None), at)


async def snooze_pages(store: Store, pages: Sequence[Page], until: float | None) -> None:
    """No visits until this time; None: end the snooze."""
    times = [
        VisitTimes(page_id=page.id, every_s=page.every_s, windows=page.windows, snoozed_until=until) for page in pages
    ]
    await store.pages.set_visit_times(times, {})


async def timed_pages(store: Store) -> list[tuple[str, VisitTimes]]:
    """The URLs of the pages for which a user set visit times, with these."""
    times = {one.page_id: one for one in await store.pages.visit_times()}
    return [(page.url, times[page.id]) for page in await store.budgets.summaries_of(list(times))]


def visit_times_json(page: Page, now: float) -> dict[str, Any]:
    """The visit times of a page; `opens_at` is set while its windows are closed."""
    windows = stored_windows(page.windows)
    is_closed = windows is not None and not windows.is_open(now)
    is_snoozed = page.snoozed_until is not None and page.snoozed_until > now
    return {
        "every_s": page.every_s,
        "windows": page.windows,
        "opens_at": iso_or_none(windows.next_open(now)) if windows is not None and is_closed else None,
        "snoozed_until": iso_or_none(page.snoozed_until) if is_snoozed else None,
        "next_visit": iso_or_none(shown_next_at(page, now)) if page.state is PageState.ACTIVE else None,
    }


def visit_times_summary(times: Sequence[VisitTimes], now: float) -> dict[str, Any]:
    """The numbers of pages with visit times, and the visits that fixed rhythms ask for."""
    return {
        "fixed": sum(one.every_s is not None for one in times),
        "fixed_visits_per_day": round(sum(DAY_S / one.every_s for one in times if one.every_s is not None), 3),
        "windows": sum(one.windows is not None for one in times),
        "snoozed": sum(one.snoozed_until is not None and one.snoozed_until > now for one in times),
    }


def visit_times_lines(summary: dict[str, Any], budget: dict[str, Any] | None) -> list[str]:
    """The summary as text, with a warning if rhythms ask for more visits than the budget has."""
    lines = []
    if summary["fixed"] or summary["windows"] or summary["snoozed"]:
        visits = counted(f"{summary['fixed_visits_per_day']:g}", "visit")
        rhythm = f"{summary['fixed']} in a fixed rhythm ({visits} a day)"
        lines.append(f"{rhythm}, {summary['windows']} with visit windows, {summary['snoozed']} snoozed")
    total = next((part for part in (budget or {}).get("budgets", ()) if part["name"] == "all"), None)
    if total is None or (budget or {}).get("is_default") or total["unit"] != "visits":
        return lines
    if summary["fixed_visits_per_day"] > total["per_day"]:
        lines.append(
            f"the rhythms ask for more than the budget of {counted(format(total['per_day'], 'g'), 'visit')} a day: other pages are not "
            "visited. Raise budget.total, or lengthen the rhythms (`webstrata interval`)"
        )
    return lines
