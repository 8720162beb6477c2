"""The loop under `value`: the best pages within the budget, new ones at once, memory that survives restarts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.flows.conftest import DAILY, DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata import settings as settings_file
from webstrata.clock import iso
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput
from webstrata.node import Node
from webstrata.records import Boost, BudgetState, IntervalLimit, PageRules
from webstrata.schedule.page_table import replayed
from webstrata.schedule.registry import budgeted_policy
from webstrata.settings import Settings

VALUE = "schedule.policy=value"


def lively(request: ReceivedRequest) -> Reply:
    """Another text every six hours."""
    return reply(f"<p>edition {int(request.at // 21_600)} of the news of the day")


def still(request: ReceivedRequest) -> Reply:
    return reply("<p>the same for ever")


def _play(archiver: Archiver, lively_pages: int, still_pages: int) -> list[str]:
    found = []
    for n in range(lively_pages):
        archiver.servers.serve(f"http://a.test/lively{n}", lively)
        found.append(f"http://a.test/lively{n}")
    for n in range(still_pages):
        archiver.servers.serve(f"http://b.test/still{n}", still)
        found.append(f"http://b.test/still{n}")
    return found


def test_new_pages_are_visited_at_once_and_lively_ones_most(run_scenario: Callable[..., None]) -> None:
    """All pages are seen in the first round; then those that change get most of the visits."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 3, 9)
        await archiver.watch(*pages)
        await archiver.run(600)
        assert {page.visits for page in (await archiver.pages()).values()} == {1}
        await archiver.run(20 * DAY_S)
        visits = {url: len(await archiver.visits(url)) for url in pages}
        quick = np.mean([visits[url] for url in pages[:3]])
        slow = np.mean([visits[url] for url in pages[3:]])
        assert quick > 2 * slow
        assert sum(visits.values()) <= 12 + 0.5 * 12 * 21

    run_scenario(scenario, VALUE, "budget.total=0.5/page/day", "crawl.round=1h")


def test_with_a_visit_a_day_lively_pages_get_several(run_scenario: Callable[..., None]) -> None:
    """The budget is an average: pages that change every six hours are seen more than once a day, and each of them more
    often than any page that does not change."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 3, 9)
        await archiver.watch(*pages)
        await archiver.run(20 * DAY_S)
        visits = {url: len(await archiver.visits(url)) for url in pages}
        assert np.mean([visits[url] for url in pages[:3]]) > 1.5 * 20
        assert min(visits[url] for url in pages[:3]) > max(visits[url] for url in pages[3:])
        assert max(visits[url] for url in pages[3:]) < 20
        assert sum(visits.values()) <= 12 + 12 * 21

    run_scenario(scenario, VALUE, "budget.total=1/page/day", "crawl.round=1h")


def test_what_people_see_is_when_the_value_passes_the_price(run_scenario: Callable[..., None]) -> None:
    """Every page has a next visit within its limits, a reason with the price, and its row of state."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 1, 1)
        await archiver.watch(*pages)
        await archiver.run(3600)
        for page in (await archiver.pages()).values():
            assert page.policy == "value"
            assert page.next_at is not None
            assert page.interval_s is not None
            assert 300 <= page.interval_s <= 180 * DAY_S
            assert "price" in page.reason
            assert 0 < len(page.policy_state) <= 256

    run_scenario(scenario, VALUE)


def test_a_restart_goes_on_where_it_stopped(run_scenario: Callable[..., None]) -> None:
    """Twenty days in one run or in twenty give the same number of visits; the price and what is saved are kept."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 2, 4)
        await archiver.watch(*pages)
        for _ in range(20):
            await archiver.run(DAY_S)
        made = sum([len(await archiver.visits(url)) for url in pages])
        assert 6 + 0.8 * 0.5 * 6 * 20 <= made <= 6 + 0.5 * 6 * 21
        async with archiver.node.store() as store:
            (pace,) = await store.budgets.states()
        assert pace.name == "all"
        assert 0 < pace.price < 1
        assert pace.price != 0.05, "it has moved from the first price"
        assert START_AT + 19 * DAY_S < pace.at <= archiver.clock.now()

    run_scenario(scenario, VALUE, "budget.total=0.5/page/day", "crawl.round=1h")


def test_an_absolute_budget_holds_from_the_first_visit(run_scenario: Callable[..., None]) -> None:
    """With ten visits a day forty new pages take four days, whatever they are worth; never more than is saved."""

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://a.test/{n}" for n in range(40)]
        for url in pages:
            archiver.servers.serve(url, lively)
        await archiver.watch(*pages)
        days = []
        for _ in range(8):
            before = (await archiver.totals()).visits
            await archiver.run(DAY_S)
            days.append((await archiver.totals()).visits - before)
        assert max(days) <= 10 + 2.5
        assert sum(days) >= 60
        assert all(page.visits for page in (await archiver.pages()).values())

    run_scenario(scenario, VALUE, "budget.total=10/day", "crawl.round=1h")


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_a_budget_of_nothing_visits_nothing(run_scenario: Callable[..., None], policy: str) -> None:
    """Zero is a budget: pages wait and say why."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch("http://a.test/")
        await archiver.run(3 * DAY_S)
        assert (await archiver.totals()).visits == 0
        assert "budget" in (await archiver.page("http://a.test/")).reason

    run_scenario(scenario, f"schedule.policy={policy}", "budget.total=0/day", "crawl.round=1h")


def test_tags_and_hosts_have_budgets_of_their_own(run_scenario: Callable[..., None]) -> None:
    """A tag with two visits a day and a host with three keep to them, the rest of the pages does not notice."""

    async def scenario(archiver: Archiver) -> None:
        for host in "abc":
            for n in range(6):
                archiver.servers.serve(f"http://{host}.test/{n}", lively)
        await archiver.watch(*[f"http://a.test/{n}" for n in range(6)], tags=("news",))
        await archiver.watch(*[f"http://{host}.test/{n}" for host in "bc" for n in range(6)])
        await archiver.run(5 * DAY_S)
        made = {host: sum([len(await archiver.visits(f"http://{host}.test/{n}")) for n in range(6)]) for host in "abc"}
        assert made["a"] <= 2 * 5 + 1
        assert made["b"] <= 3 * 5 + 1
        assert made["c"] > 20

    flags = ("budget.total=1/page/day", "budget.tags=news=2/day", "budget.hosts=b.test=3/day", "crawl.round=1h")
    run_scenario(scenario, VALUE, *flags)


def test_bytes_can_be_the_budget(run_scenario: Callable[..., None]) -> None:
    """With pages of 10 KB and 100 KB a day about ten visits a day are made."""

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://a.test/{n}" for n in range(5)]
        for url in pages:
            archiver.servers.serve(url, lambda request: reply(f"<p>{int(request.at)} " + "x" * 10_000))
        await archiver.watch(*pages)
        await archiver.run(10 * DAY_S)
        totals = await archiver.totals()
        assert 100_000 * 6 <= totals.bytes <= 100_000 * 11

    run_scenario(scenario, VALUE, "budget.total=100KB/day", "crawl.round=1h")


def test_pages_added_meanwhile_are_taken_in(run_scenario: Callable[..., None]) -> None:
    """A page that another process adds is visited in the next round and scheduled with the others."""

    async def scenario(archiver: Archiver) -> None:
        _play(archiver, 2, 1)
        await archiver.watch("http://a.test/lively0")
        async with archiver.node.crawling() as loop:
            await loop.run(archiver.clock.now() + 2 * DAY_S)
            await archiver.watch("http://a.test/lively1", "http://b.test/still0")
            await loop.run(archiver.clock.now() + 2 * DAY_S)
        assert len(await archiver.visits("http://a.test/lively1")) > 1

    run_scenario(scenario, VALUE, "crawl.round=1h")


def test_paused_pages_are_not_chosen(run_scenario: Callable[..., None]) -> None:
    """Unwatching ends the visits of a page, watching again takes them up."""

    async def scenario(archiver: Archiver) -> None:
        _play(archiver, 2, 0)
        await archiver.watch("http://a.test/lively0", "http://a.test/lively1")
        async with archiver.node.crawling() as loop:
            await loop.run(archiver.clock.now() + DAY_S)
            async with archiver.node.store() as store:
                await store.pages.pause(["http://a.test/lively0"])
            before = len(await archiver.visits("http://a.test/lively0"))
            await loop.run(archiver.clock.now() + 2 * DAY_S)
            assert len(await archiver.visits("http://a.test/lively0")) == before
            await archiver.watch("http://a.test/lively0")
            await loop.run(archiver.clock.now() + 2 * DAY_S)
        assert len(await archiver.visits("http://a.test/lively0")) > before

    run_scenario(scenario, VALUE, "crawl.round=1h")


def test_failing_pages_keep_their_retries(run_scenario: Callable[..., None]) -> None:
    """A page whose server is broken is tried after five minutes, then ever less; others go on."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/", reply("broken", 500))
        archiver.servers.serve("http://b.test/", lively)
        await archiver.watch("http://a.test/", "http://b.test/")
        await archiver.run(DAY_S)
        page = await archiver.page("http://a.test/")
        assert page.failures > 3
        assert "failed" in page.reason
        assert len(await archiver.visits("http://b.test/")) >= 1

    run_scenario(scenario, VALUE)


def test_a_page_of_another_policy_starts_from_its_log(run_scenario: Callable[..., None]) -> None:
    """What `dyn` saw is not lost: `value` knows by the log which page is lively."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 1, 1)
        await archiver.watch(*pages)
        await archiver.run(40 * DAY_S)
        logs = {url: [(1, visit.at, visit.counts) for visit in await archiver.visits(url)] for url in pages}
        policy = budgeted_policy("value")
        quick, slow = (np.frombuffer(replayed(policy, logs[url])[1], dtype=policy.dtype)["levels"][0] for url in pages)
        assert quick[-4:].sum() > 0.5 > slow[-4:].sum()

    run_scenario(scenario, DAILY, "schedule.min_interval=1d")


def test_a_crawl_takes_what_is_worth_it_and_what_is_asked_for(run_scenario: Callable[..., None]) -> None:
    """`crawl` makes one pass within the budget; a page named by its user is visited whatever it is worth."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 1, 5)
        await archiver.watch(*pages)
        assert await archiver.crawl() == 6
        assert await archiver.crawl() == 0
        asked = await archiver.page("http://b.test/still0")
        async with archiver.node.store() as store:
            await store.queue.release([(asked.id, archiver.clock.now())])
        async with archiver.node.crawling() as loop:
            assert await loop.crawl([asked.id]) == 1
        assert 4 <= await archiver.crawl(after_s=DAY_S) <= 6
        assert 4 <= await archiver.crawl(after_s=DAY_S) <= 6

    run_scenario(scenario, VALUE)


def test_the_price_is_kept_with_what_is_saved(run_scenario: Callable[..., None]) -> None:
    """A loop that starts goes on with the price and the debt that the last one left."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 3, 0)
        await archiver.watch(*pages)
        await archiver.run(3600)
        async with archiver.node.store() as store:
            spent = BudgetState(name="all", price=0.5, credit=-30.0, at=archiver.clock.now())
            await store.budgets.reserve("test", spent.at, spent.at, lambda states, held: [(spent, 0.0)])
        before = (await archiver.totals()).visits
        await archiver.run(9 * DAY_S)
        assert (await archiver.totals()).visits == before

    run_scenario(scenario, VALUE, "budget.total=1/page/day", "crawl.round=1h")


def test_a_budget_changed_while_running_holds_from_the_next_round(run_scenario: Callable[..., None]) -> None:
    """The settings file is read again: nothing is visited while it says 0, and visits come back when it does not."""

    async def scenario(archiver: Archiver) -> None:
        def load() -> Settings:
            return settings_file.load(archiver.home.path, environment={}, flags=("schedule.policy=value",))[0]

        def write(total: str) -> None:
            archiver.home.settings_file.write_text(f'[budget]\ntotal = "{total}"\n', encoding="utf-8")

        pages = _play(archiver, 3, 0)
        await archiver.watch(*pages)
        node = Node(archiver.home, archiver.settings, archiver.clock, load, archiver.make_parsers)
        made = []
        async with node.crawling() as loop:
            for total in ("2/page/day", "0/day", "nonsense", "2/page/day"):
                write(total)
                await loop.run(archiver.clock.now() + 4 * DAY_S)
                made.append((await archiver.totals()).visits)
        assert made[0] > 10
        assert made[1] <= made[0] + 2
        assert made[2] == made[1]
        assert made[3] > made[1] + 8

    run_scenario(scenario, VALUE, "crawl.round=1h")


def test_an_announced_change_is_worth_a_visit(run_scenario: Callable[..., None]) -> None:
    """Where a sitemap has proved right, the page that it names is visited before all others, within the budget."""
    names = [f"http://a.test/{n:02}" for n in range(12)]

    def edition(request: ReceivedRequest) -> int:
        """Every two days another page gets a new text."""
        return int((request.at - START_AT) // (2 * DAY_S))

    def page(number: int) -> Callable[[ReceivedRequest], Reply]:
        def script(request: ReceivedRequest) -> Reply:
            times = (edition(request) - number) // len(names)
            return reply(f"<p>page {number}, text number {times} of it, and so on and so forth")

        return script

    def sitemap(request: ReceivedRequest) -> Reply:
        entries = []
        for number, url in enumerate(names):
            last = (edition(request) - number) // len(names) * len(names) + number
            entries.append(f"<url><loc>{url}</loc><lastmod>{iso(START_AT + last * 2 * DAY_S)}</lastmod></url>")
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'
        return reply(text, kind="application/xml")

    async def scenario(archiver: Archiver) -> None:
        for number, url in enumerate(names):
            archiver.servers.serve(url, page(number))
        archiver.servers.serve("http://a.test/sitemap.xml", sitemap)
        await archiver.watch(*names)
        await archiver.watch("http://a.test/sitemap.xml", page_rules=PageRules(handler="sitemap"))
        await archiver.run(100 * DAY_S)
        late = START_AT + 50 * DAY_S
        visits = [visit for url in names for visit in await archiver.visits(url) if visit.at > late]
        hits = sum(visit.counts for visit in visits)
        assert hits >= 0.75 * 25
        assert len(visits) <= 0.4 * 13 * 51
        async with archiver.node.store() as store:
            source = ScheduleInput(store, archiver.node.schedule())
            evidence = await source.evidence(await archiver.page(names[0]), archiver.clock.now())
        assert evidence["hint_from"] == "http://a.test/sitemap.xml"

    run_scenario(scenario, VALUE, "budget.total=0.4/page/day", "crawl.round=6h")


def test_a_longest_interval_comes_before_all_values(run_scenario: Callable[..., None]) -> None:
    """A still page that is to be seen every day is, though lively ones are worth more."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 6, 1)
        await archiver.watch(*pages[:6])
        await archiver.watch(pages[6], tags=("daily",))
        async with archiver.node.store() as store:
            await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="daily", max_s=DAY_S))
        await archiver.run(20 * DAY_S)
        gaps = np.diff([visit.at for visit in await archiver.visits(pages[6])]) / DAY_S
        assert len(gaps) >= 17
        assert gaps.max() < 1.35  # it may have to wait for a third of a day's budget

    run_scenario(scenario, VALUE, "budget.total=0.5/page/day", "crawl.round=1h")


@pytest.mark.parametrize("policy", ["value", "fixed"])
def test_a_boost_brings_more_visits_while_it_lasts(run_scenario: Callable[..., None], policy: str) -> None:
    """Of two lively pages the one with the boosted tag is visited more often, by values and by timers."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 6, 0)
        await archiver.watch(*pages[:3], tags=("event",))
        await archiver.watch(*pages[3:])
        async with archiver.node.store() as store:
            await store.budgets.set_boost(Boost(tag="event", factor=4.0, since=START_AT, until=START_AT + 60 * DAY_S))
        await archiver.run(60 * DAY_S)
        made = [len(await archiver.visits(url)) for url in pages]
        assert sum(made[:3]) > 1.3 * sum(made[3:])

    run_scenario(
        scenario,
        f"schedule.policy={policy}",
        "schedule.start_interval=4d",
        "budget.total=0.3/page/day",
        "crawl.round=6h",
    )


def test_a_resting_host_is_not_chosen(run_scenario: Callable[..., None]) -> None:
    """While a host asks for a rest its pages wait, and the budget goes to others."""

    async def scenario(archiver: Archiver) -> None:
        pages = _play(archiver, 4, 4)
        await archiver.watch(*pages)
        await archiver.run(2 * DAY_S)
        archiver.servers.serve("http://a.test/lively0", reply("later", 503, Retry_After=str(int(3 * DAY_S))))
        async with archiver.node.crawling() as loop:
            asked = await archiver.page("http://a.test/lively0")
            async with archiver.node.store() as store:
                await store.queue.release([(asked.id, archiver.clock.now())])
            await loop.crawl([asked.id])
        rests_at = archiver.clock.now()
        await archiver.run(0.9 * DAY_S)  # no rest is kept for longer than a day
        assert [at for at in archiver.servers.times("a.test") if at > rests_at] == []
        assert len([at for at in archiver.servers.times("b.test") if at > rests_at]) >= 1

    run_scenario(scenario, VALUE, "crawl.round=1h")
