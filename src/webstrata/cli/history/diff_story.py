"""`webstrata diff URL --since T`: all changes of a page in a period, newest first, each with its difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer
from msgspec.structs import replace

from webstrata.cli.history.difference_text import ShownAs, move_json, write_html, write_text
from webstrata.cli.history.log import visit_json
from webstrata.cli.history.visit_text import warn_of_cuts
from webstrata.cli.output import counted, date_time, iso_or_none, print_json, printable
from webstrata.cli.session import run_async
from webstrata.detect.diff.difference import Difference
from webstrata.detect.diff.html_page import ChangeSummary, story_html
from webstrata.errors import UsageError
from webstrata.flows.story import PageStory, StoryEvent, page_story, story_differences
from webstrata.flows.tag_rules import with_tag_rules
from webstrata.flows.version_noise import learned_noise
from webstrata.flows.versions import watched_page
from webstrata.records import Page, Visit

if TYPE_CHECKING:
    from webstrata.node import Node

_MAX_LINES = 40
"""Lines of each change, if the user does not give a number."""
_JSON_FIELDS = (
    "at",
    "outcome",
    "changed",
    "kind",
    "significance",
    "reasons",
    "product_values",
    "reverted",
    "new_links",
    "status",
)


def show_story(node: Node, address: str, since: float, until: float | None, shown: ShownAs) -> None:
    """Print all changes of a page since a time, as text, as one JSON document or as one HTML page."""
    if until is not None and since > until:
        raise UsageError("--since is later than --to. Exchange them.")

    async def collect() -> tuple[Page, PageStory]:
        async with node.store() as store:
            page = await watched_page(store, address)
            (page,) = with_tag_rules([page], await store.pages.tag_rules())
            return page, await page_story(store, page, since, until)

    page, story = run_async(collect)
    warn_of_cuts(event.visit for event in story.events)
    differences = story_differences(
        story,
        page.page_rules,
        read=node.reader().read,
        max_decoded=node.settings.fetch.max_decoded,
        name=lambda visit: date_time(visit.at),
        noise=learned_noise(page),
    )
    shown = shown._replace(max_lines=shown.max_lines or _MAX_LINES)
    period = _period(story, since, until if until is not None else node.clock.now())
    if shown.json:
        changes = [_change_json(event, difference, shown) for event, difference in differences]
        totals = {"visits": story.visits, "quiet_first": story.quiet_first}
        print_json(
            {"url": page.url, "since": iso_or_none(since), "to": iso_or_none(until), **totals, "changes": changes}
        )
    elif shown.html:
        summaries = [_summary(event) for event in story.events]
        pieces = story_html(
            summaries,
            (difference for _, difference in differences),
            title=page.url,
            period=period,
            quiet_first=_quiet(story.quiet_first),
        )
        write_html(pieces, shown.out)
    else:
        write_text(_story_lines(page.url, period, story, differences, shown), shown.out)


def _period(story: PageStory, since: float, until: float) -> str:
    numbers = f"{counted(story.changes, 'change')} in {counted(story.visits, 'visit')}"
    return f"{date_time(since)} to {date_time(until)} UTC: {numbers}" + (", newest first" if story.changes > 1 else "")


def _quiet(number: int) -> str:
    return f"{counted(number, 'visit')} without a change that counts" if number else ""


def _kind(visit: Visit) -> str:
    return f"{visit.kind} (back)" if visit.reverted else f"{visit.kind}"


def _summary(event: StoryEvent) -> ChangeSummary:
    visit = event.visit
    return ChangeSummary(
        at=date_time(visit.at),
        kind=_kind(visit),
        significance=f"{visit.significance:.2f}" if visit.counts else "",
        reasons="; ".join(visit.reasons),
        quiet=_quiet(event.quiet_visits),
    )


def _story_lines(
    url: str,
    period: str,
    story: PageStory,
    differences: Iterator[tuple[StoryEvent, Difference | None]],
    shown: ShownAs,
) -> Iterator[str]:
    yield from (printable(url), period)
    for event, difference in differences:
        summary = _summary(event)
        if summary.quiet:
            yield from ("", summary.quiet)
        head = "  ".join(filter(None, (summary.at, summary.kind, summary.significance)))
        yield from ("", printable(head) if shown.out else typer.style(printable(head), bold=True))
        if summary.reasons:
            yield printable(summary.reasons)
        if difference is not None:
            yield from shown.text(difference)
    if story.quiet_first:
        yield from ("", _quiet(story.quiet_first))


def _change_json(event: StoryEvent, difference: Difference | None, shown: ShownAs) -> dict[str, Any]:
    visit = visit_json(event.visit)
    return {
        **{name: visit[name] for name in _JSON_FIELDS},
        "from": iso_or_none(event.before.at) if event.before is not None else None,
        "move": move_json(difference),
        "lines": [] if difference is None else list(shown.text(replace(difference, noise=None))),
        "noise": [] if difference is None or difference.noise is None else list(shown.noise_lines(difference.noise)),
        "quiet_visits_after": event.quiet_visits,
    }
