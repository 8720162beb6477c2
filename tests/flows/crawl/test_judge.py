"""The outcomes of a page over several visits, and its next visits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAILY, DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import reply
from webstrata.records import Outcome
from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.adaptive import Dyn

PAGE = "http://a.test/page"


def html(text: str, comment: str = "") -> str:
    return f"<html><!-- {comment} --><title>t</title><body><p>{text}</p></body></html>"


def test_every_outcome_over_several_visits(run_scenario: Callable[..., None]) -> None:
    """New, same, changed, gone, still gone, back and error are distinguished, and the counters follow."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            PAGE,
            reply(html("one")),
            reply(html("one")),
            reply(html("two")),
            reply("", 410),
            reply("", 404),
            reply(html("two")),
            reply("broken", 500),
            reply(html("two")),
        )
        await archiver.watch(PAGE)
        seen_at = []
        for _ in range(8):
            await archiver.clock.sleep_until((await archiver.page(PAGE)).next_at or 0)
            seen_at.append(archiver.clock.now())
            assert await archiver.crawl() == 1
        assert await archiver.outcomes(PAGE) == [
            "new",
            "same",
            "changed",
            "gone",
            "same",
            "back",
            "server-error",
            "same",
        ]
        assert [visit.counts for visit in await archiver.visits(PAGE)] == [
            False,
            False,
            True,
            True,
            False,
            True,
            False,
            False,
        ]
        page = await archiver.page(PAGE)
        assert (page.visits, page.changes, page.failures, page.gone) == (8, 3, 0, False)
        changed_at = [visit.at for visit in await archiver.visits(PAGE) if visit.counts]
        assert page.last_change_at == changed_at[-1]
        assert page.last_seen_at == page.last_visit_at == pytest.approx(seen_at[-1], abs=5)
        assert [record.status for record in archiver.records(PAGE)] == [
            "200",
            "200",
            "200",
            "410",
            "404",
            "200",
            "500",
            "200",
        ]

    run_scenario(scenario, DAILY)  # each page is visited at the end of its interval


def test_the_wait_grows_with_each_failure_in_a_row(run_scenario: Callable[..., None]) -> None:
    """The wait grows with each failure in a row; the interval and the last content of the page are kept."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(html("one")), *[reply("", 500)] * 4, reply(html("one")))
        await archiver.watch(PAGE)
        waits = []
        for expected_failures in (0, 1, 2, 3, 4):
            await archiver.clock.sleep_until((await archiver.page(PAGE)).next_at or 0)
            await archiver.crawl()
            page = await archiver.page(PAGE)
            assert page.failures == expected_failures
            assert page.interval_s == DAY_S
            assert page.next_at is not None
            assert page.last_visit_at is not None
            waits.append(page.next_at - page.last_visit_at)
        assert waits[0] == DAY_S
        assert 200 < waits[1] < waits[2] < waits[3] < waits[4] < DAY_S / 10
        assert page.next_at is not None
        await archiver.clock.sleep_until(page.next_at)
        await archiver.crawl()
        assert (await archiver.page(PAGE)).last_outcome is Outcome.SAME
        assert (await archiver.page(PAGE)).failures == 0

    run_scenario(scenario, DAILY)  # the interval is known


def test_raw_changes_are_archived_but_do_not_count(run_scenario: Callable[..., None]) -> None:
    """Other bytes with the same text are archived and marked in the log, but are no change for the schedule."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(html("same", "1")), reply(html("same", "2")))
        await archiver.watch(PAGE)
        await archiver.crawl()
        await archiver.crawl(after_s=DAY_S)
        first, second = await archiver.visits(PAGE)
        assert (second.outcome, second.raw_changed, second.counts) == (Outcome.SAME, True, False)
        assert second.raw != first.raw
        assert second.text == first.text
        assert [record.kind for record in archiver.records(PAGE)] == ["response", "response"]
        page = await archiver.page(PAGE)
        assert (page.changes, page.last_change_at) == (0, None)

    run_scenario(scenario)


def test_dyn_follows_its_definition_over_a_scripted_history(run_scenario: Callable[..., None]) -> None:
    """Over a long history the intervals equal those of the definition of `dyn`."""
    history = [True] * 6 + [False] * 26 + [True, False] * 2 + [True] * 10

    async def scenario(archiver: Archiver) -> None:
        number = 0
        bodies = [html("v0")]
        for changed in history:
            number += changed
            bodies.append(html(f"v{number}"))
        archiver.servers.serve(PAGE, *map(reply, bodies))
        await archiver.watch(PAGE)
        expected = _reference(history, start_days=8.0)
        seen = []
        for _ in range(len(history) + 1):
            await archiver.clock.sleep_until((await archiver.page(PAGE)).next_at or 0)
            await archiver.crawl()
            page = await archiver.page(PAGE)
            assert page.next_at is not None
            assert page.last_visit_at is not None
            assert page.interval_s is not None
            assert page.next_at == page.last_visit_at + page.interval_s
            assert page.policy == "dyn"
            seen.append(page.interval_s / DAY_S)
        assert seen == pytest.approx([8.0, *expected])
        assert (min(expected), max(expected)) == (4.0, 180.0)
        assert page.changes == sum(history)

    run_scenario(
        scenario, DAILY, "schedule.start_interval=8d", "schedule.min_interval=1d", "schedule.max_interval=180d"
    )


def _reference(history: list[bool], start_days: float) -> list[float]:
    """`dyn` as the paper defines it, one visit at a time."""
    interval, at_it = start_days, []
    given = []
    for changed in history:
        at_it.append(changed)
        needed = 1 if interval > 60 else 2 if interval > 30 else 3 if interval > 7 else 4
        last = at_it[-needed:]
        moved = interval
        if len(last) == needed and all(last):
            moved = interval / 2 if interval <= 30 else interval / 1.5
        elif len(last) == needed and not any(last):
            moved = interval * 1.5 if interval < 30 else interval * 2
        moved = min(max(moved, 1.0), 180.0)
        if moved != interval:
            interval, at_it = moved, []
        given.append(interval)
    return given


def test_run_visits_changing_pages_more_often(run_scenario: Callable[..., None]) -> None:
    """In a run of 30 days a page that always changes is visited more and more often, an unchanged one less."""

    async def scenario(archiver: Archiver) -> None:
        still, busy = "http://a.test/still", "http://b.test/busy"
        archiver.servers.serve(still, reply(html("still")))
        archiver.servers.serve(busy, lambda request: reply(html(f"at {request.at}")))
        await archiver.watch(still, busy)
        await archiver.run(30 * DAY_S)
        assert archiver.clock.now() == START_AT + 30 * DAY_S
        visits = {url: await archiver.visits(url) for url in (still, busy)}
        assert {visit.outcome for visit in visits[still]} == {Outcome.NEW, Outcome.SAME}
        assert {visit.outcome for visit in visits[busy]} == {Outcome.NEW, Outcome.CHANGED}
        assert len(visits[busy]) > 3 * len(visits[still]) > 6
        state = Dyn(Bounds()).start(1)
        assert len((await archiver.page(still)).policy_state) == state.itemsize

    run_scenario(scenario, DAILY, "schedule.min_interval=6h")  # the state is that of `dyn`
