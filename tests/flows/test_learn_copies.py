"""Copies in archives become beliefs: in the store, together with visits, and in a running loop."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.flows.conftest import DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput
from webstrata.flows.learn_copies import LearnedCopies, copy_changed, learn_copies
from webstrata.ports import Store
from webstrata.records import ArchivedCopy, CopyRow, Page
from webstrata.schedule.past_copies import CHANGED, SAME, PastSightings, learn_sightings
from webstrata.schedule.registry import policy_state

URL = "http://a.test/page"
OTHER = "http://a.test/other"
ROUNDS = ("crawl.round=1d", "schedule.min_interval=1d", "budget.total=1/page/day")


def digest_of(text: str) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(text.encode(), usedforsecurity=False).digest()).decode()


def edition(number: int) -> str:
    return f"<p>This is edition {number} of the page.</p>"


def editions(numbers: Sequence[int], url: str = URL, every_days: float = 5.0) -> list[ArchivedCopy]:
    """Copies up to five days before the start, with these contents."""
    return [
        ArchivedCopy(
            url=url, at=START_AT - (len(numbers) - at) * every_days * DAY_S, archive="web.archive.org",
            digest=digest_of(edition(number)), status=200,
        )
        for at, number in enumerate(numbers)
    ]  # fmt: skip


def levels_of(page: Page) -> np.ndarray:
    state = np.frombuffer(page.policy_state, dtype=policy_state("value", np.zeros(1, dtype=np.intp)).policy.dtype)
    assert page.policy == "value"
    return state["levels"][0]


async def learn(archiver: Archiver, store: Store, at_once: int = 20_000) -> LearnedCopies:
    return await learn_copies(store, archiver.node.schedule(), archiver.clock.now(), at_once=at_once)


@pytest.mark.parametrize(
    ("copy", "now", "expected"),
    [
        (("sha1:A", "t1"), ("t1", "sha1:B", ""), False),
        (("sha1:A", "t1"), ("t2", "sha1:A", ""), True),
        (("sha1:A", ""), ("t1", "sha1:A", ""), False),
        (("sha1:A", ""), ("t1", "sha1:B", ""), True),
        (("sha1:A", ""), ("t1", "sha1:B", "gzip"), None),
        (("sha1:A", ""), ("t1", "sha1:A", "gzip"), False),
        (("sha256:A", ""), ("t1", "sha1:B", ""), None),
        (("sha1:A", "t1"), ("", "sha1:A", ""), False),
        (("", ""), ("t1", "sha1:B", ""), None),
        (("", ""), ("", "", ""), None),
    ],
)
def test_what_can_be_compared(copy: tuple[str, str], now: tuple[str, str, str], expected: bool | None) -> None:
    """Texts are compared if both are known, else payload digests of one algorithm; another payload says nothing if it
    was sent with a content coding."""
    row = CopyRow(page_id=1, at=0.0, archive="a", digest=copy[0], text=copy[1], status=200, has_links=False)
    assert copy_changed(row, *now) is expected


def test_copies_become_the_belief(run_scenario: Callable[..., None]) -> None:
    """The stored state is that of the policy after the copies; learning again finds nothing new, and from the start
    gives the same."""

    async def scenario(archiver: Archiver) -> None:
        async with archiver.node.store() as store:
            await store.copies.add([*editions([1, 1, 2, 3]), *editions([1, 1, 1], OTHER)], None, START_AT)
            assert await learn(archiver, store) == LearnedCopies(pages=2, copies=7, hosts=1)
            first = await store.pages.by_url([URL, OTHER])
            assert await learn(archiver, store) == LearnedCopies()
            await store.copies.save_learned("value", [(page.id, b"x") for page in first.values()], [], 0.0)
            await store.copies.add(editions([0, 1, 1, 2, 3])[:1], None, START_AT)  # then all of the host are learned
            await learn(archiver, store)
            assert (await store.pages.by_url([OTHER]))[OTHER].policy_state == first[OTHER].policy_state
            expected = policy_state("value", np.zeros(2, dtype=np.intp), now=START_AT / DAY_S)
            at = [START_AT / DAY_S - 5.0 * n for n in (25 / 5, 4, 3, 2, 1, 3, 2, 1)]
            learn_sightings(
                expected,
                PastSightings(
                    page=np.array([0] * 5 + [1] * 3),
                    at=np.array(at),
                    result=np.array([SAME, CHANGED, SAME, CHANGED, CHANGED, SAME, SAME, SAME], dtype=np.int8),
                ),
            )
            pages = await store.pages.by_url([URL, OTHER])
            np.testing.assert_allclose(levels_of(pages[URL]), expected.state["levels"][0], rtol=1e-5)
            assert await store.budgets.site_states() != {}
            assert levels_of(pages[URL])[5:].sum() > 3 * levels_of(pages[OTHER])[5:].sum()

    run_scenario(scenario)


def test_pieces_give_the_same_states(run_scenario: Callable[..., None]) -> None:
    """Hosts that are learned one after the other have the states that they have together; pieces of one host differ
    from the whole only by the events of the host."""

    async def scenario(archiver: Archiver) -> None:
        urls = [f"http://{host}.test/{number}" for host in "abc" for number in range(3)]
        copies = [copy for n, url in enumerate(urls) for copy in editions([n % m for m in range(1, 9)], url, 2.0 + n)]
        async with archiver.node.store() as store:
            await store.copies.add(copies, None, START_AT)
            states = []
            for at_once in (20_000, 3, 2):
                assert (await learn(archiver, store, at_once)).pages == 9
                pages = await store.pages.by_url(urls)
                states.append(pages)
                # Under another policy all must be learned again.
                await store.copies.save_learned("other", [(page.id, b"") for page in pages.values()], [], START_AT)
            together, by_host, in_pieces = states
            for url in urls:
                assert by_host[url].policy_state == together[url].policy_state
                np.testing.assert_allclose(levels_of(in_pieces[url]), levels_of(together[url]), atol=0.05)

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("served", "digest", "change"),
    [(3, True, False), (4, True, True), (3, False, None), (4, False, None)],
)
def test_the_first_visit_is_compared_with_the_last_copy(
    run_scenario: Callable[..., None], served: int, digest: bool, change: bool | None
) -> None:
    """A captured page that is watched keeps what was learned; its first visit teaches whether the page changed since
    the last copy, if the archive has a digest."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, reply(edition(served)))
        copies = editions([1, 1, 2, 3])
        if not digest:
            copies = [ArchivedCopy(url=copy.url, at=copy.at, archive=copy.archive) for copy in copies]
        async with archiver.node.store() as store:
            await store.copies.add(copies, None, START_AT)
            await learn(archiver, store)
        before = await archiver.page(URL)
        assert (before.state, before.last_seen_at) == ("captured", None)
        assert await archiver.crawl() == 0
        await archiver.watch(URL)
        assert (await archiver.page(URL)).policy_state == before.policy_state
        async with archiver.node.store() as store:
            source = ScheduleInput(store, archiver.node.schedule())
            evidence = await source.evidence(await archiver.page(URL), START_AT)
        assert (evidence["copies"], evidence["archives"]) == (4, ["web.archive.org"])
        assert "known from copies" in str(evidence["rule"])
        assert isinstance(evidence["rate_per_day"], float)
        assert await archiver.crawl() == 1
        after = await archiver.page(URL)
        expected = policy_state("value", np.zeros(1, dtype=np.intp)).policy.start(1, START_AT / DAY_S - 5.0)
        expected["levels"][0] = levels_of(before)
        policy = policy_state("value", np.zeros(1, dtype=np.intp)).policy
        if change is not None:
            policy.learn(expected, np.array([0]), np.array([5.0]), np.array([change]))
        np.testing.assert_allclose(levels_of(after), expected["levels"][0], atol=0.02)
        moved = abs(levels_of(after) - levels_of(before)).max()
        assert (moved > 1e-4) == (change is not None)

    run_scenario(scenario)


def test_a_failed_first_visit_keeps_the_belief(run_scenario: Callable[..., None]) -> None:
    """The policy learns nothing from a failure, and forgets nothing."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(URL, reply("busy", 503), reply(edition(3)))
        async with archiver.node.store() as store:
            await store.copies.add(editions([1, 2, 3]), None, START_AT)
        await archiver.watch(URL)
        assert await archiver.crawl() == 1  # the loop learns before it begins
        before = await archiver.page(URL)
        assert before.failures == 1
        assert levels_of(before)[5:].sum() > 0.5
        assert await archiver.crawl(3600.0) == 1
        assert (await archiver.page(URL)).changes == 0
        assert abs(levels_of(await archiver.page(URL)) - levels_of(before)).max() > 1e-4

    run_scenario(scenario)


def test_copies_and_visits_are_one_belief(run_scenario: Callable[..., None]) -> None:
    """Learned again from the copies and from the log of its visits, a page has nearly the belief that the loop gave it
    visit by visit, knowing less of the other pages. Copies that overlap with the visits are learned together with
    them."""

    async def scenario(archiver: Archiver) -> None:
        def by_day(request: ReceivedRequest) -> Reply:
            return reply(edition(3 + int((request.at - START_AT) / DAY_S) // 2))

        for url in (URL, OTHER):
            archiver.servers.serve(url, by_day)
        async with archiver.node.store() as store:
            copies = [*editions([1, 1, 2, 3]), *editions([1, 1, 1, 3], OTHER)]
            await store.copies.add(copies, None, START_AT)
            await archiver.watch(URL, OTHER)
            await archiver.run(9 * DAY_S)
            before = {url: levels_of(await archiver.page(url)) for url in (URL, OTHER)}
            assert (await archiver.page(URL)).changes > 2
            await store.copies.add(
                [ArchivedCopy(url=copy.url, at=copy.at, archive=copy.archive, text="") for copy in copies]
                + [ArchivedCopy(url=url, at=START_AT + 2.2 * DAY_S, archive="b") for url in (URL, OTHER)],
                None,
                START_AT,
            )
            assert (await learn(archiver, store)).pages == 2
            for url, levels in before.items():
                np.testing.assert_allclose(levels_of(await archiver.page(url)), levels, atol=0.05)

    run_scenario(scenario, *ROUNDS)


def test_a_running_loop_uses_what_another_process_learned(run_scenario: Callable[..., None]) -> None:
    """Copies that are imported and learned while the loop runs count from its next look at the store on; a visit that
    is made meanwhile is not lost."""

    async def scenario(archiver: Archiver) -> None:
        for url in (URL, OTHER):
            archiver.servers.serve(url, reply(edition(3)))
        await archiver.watch(URL, OTHER)

        async def learn_meanwhile() -> None:
            await archiver.clock.sleep_until(START_AT + 1.5 * DAY_S)
            async with archiver.node.store() as store:
                await store.copies.add(editions([1, 2, 1, 2, 1, 3]), None, archiver.clock.now())
                assert (await learn(archiver, store)).pages == 1

        async with archiver.node.crawling() as loop:
            await asyncio.gather(loop.run(START_AT + 4.2 * DAY_S), learn_meanwhile())
        lively, quiet = levels_of(await archiver.page(URL)), levels_of(await archiver.page(OTHER))
        assert (await archiver.page(URL)).visits > 1
        assert lively[5:].sum() > quiet[5:].sum() + 0.3

    run_scenario(scenario, *ROUNDS)


def test_states_of_timers_start_from_copies(run_scenario: Callable[..., None]) -> None:
    """Under a timer policy the first visit of a page that changed in each copy leads to a shorter interval."""

    async def scenario(archiver: Archiver) -> None:
        for url in (URL, OTHER):
            archiver.servers.serve(url, reply(edition(9)))
        async with archiver.node.store() as store:
            changing, same = editions(range(20), every_days=10.0), editions([1] * 20, OTHER, every_days=10.0)
            await store.copies.add([*changing, *same], None, START_AT)
        await archiver.watch(URL, OTHER)
        assert await archiver.crawl() == 2
        lively, quiet = await archiver.page(URL), await archiver.page(OTHER)
        assert lively.interval_s is not None
        assert quiet.interval_s is not None
        assert lively.interval_s < quiet.interval_s / 4

    run_scenario(scenario, "schedule.policy=dyn")
