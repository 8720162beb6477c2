"""Contract of `BudgetStore`: page summaries, budget states, reservations, boosts, limits."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import Batch, Boost, BudgetState, FinishedVisit, IntervalLimit, PageRole
from webstrata.testing.store.examples import NOW, all_of, entry_of, new, page_of, visit_of


async def claim_pages_leases_exactly_the_given_pages(store: Store) -> None:
    """`claim_pages` leases the given pages in the given order, except pages leased by another owner."""
    await store.pages.add([new("1"), new("2", next_at=NOW + 99), new("3"), new("4", next_at=NOW + 99)], NOW)
    ids = {page.url[-1]: page.id for page in await all_of(store.pages.stream())}
    await store.pages.pause([(await page_of(store, "4")).url])
    assert [due.id for due in await store.queue.due(NOW, 10)] == [ids["1"], ids["3"]]
    claimed = await store.queue.claim_pages([ids["4"], ids["3"], ids["2"]], NOW, NOW + 60, "me")
    assert [page.id for page in claimed] == [ids["3"], ids["2"]]
    assert await store.queue.claim_pages([ids["2"]], NOW, NOW + 60, "you") == []
    assert [page.id for page in await store.queue.claim_pages([ids["2"]], NOW + 61, NOW + 99, "you")] == [ids["2"]]
    assert [page.id for page in await store.queue.claim(NOW, 10, NOW + 60, "you")] == [ids["1"]]


async def summaries_hold_active_pages(store: Store) -> None:
    """Summaries list active pages by id, without requisites and paused pages, with the policy state."""
    await store.pages.add([new("1", tags=("a", "b"), weight=2.5), new("2"), new("3", role=PageRole.REQUISITE)], NOW)
    assert await store.queue.largest_id() == 3
    first, second = await store.budgets.summaries(0, 10)
    assert (first.tags, first.weight, first.last_seen_at) == (("a", "b"), 2.5, None)
    assert [one.id for one in await store.budgets.summaries(first.id, 10)] == [second.id]
    assert [one.id for one in await store.budgets.summaries_of([3, second.id])] == [second.id]
    page = await page_of(store, "1")
    seen = replace(page, policy="value", policy_state=b"state", last_seen_at=NOW, next_at=NOW + 5)
    entries = (FinishedVisit(page=seen, visit=visit_of(page, counts=True)),)
    await store.visit_log.commit(Batch(entries=entries))
    assert (await store.budgets.summaries(0, 1))[0].policy_state == b"state"
    assert await store.visit_log.observations([page.id, second.id]) == [(page.id, entries[0].visit.at, True)]
    assert await store.signals.announcements_after(0, 10) == []


async def budget_states_boosts_and_limits_are_stored(store: Store) -> None:
    """Budget states, site states, boosts and limits are read back; later values replace earlier ones."""
    first = BudgetState(name="all", price=0.5, credit=-2.25, at=NOW)
    second = BudgetState(name="all", price=0.25, credit=7.0, at=NOW + 1)
    await store.budgets.reserve("me", NOW, NOW + 60, lambda states, held: [(first, 0.0)])
    await store.budgets.reserve("me", NOW, NOW + 60, lambda states, held: [(second, 0.0)])
    assert await store.budgets.states() == [second]
    await store.budgets.save_site_states([("a.test", b"1"), ("b.test", b"2")])
    await store.budgets.save_site_states([("a.test", b"3")])
    assert await store.budgets.site_states() == {"a.test": b"3", "b.test": b"2"}
    assert await store.budgets.site_states(["b.test", "c.test"]) == {"b.test": b"2"}
    boost = Boost(tag="news", factor=3.0, since=NOW, until=NOW + 60)
    await store.budgets.set_boost(replace(boost, factor=2.0))
    await store.budgets.set_boost(boost)
    assert await store.budgets.boosts() == [boost]
    assert [await store.budgets.end_boost("news") for _ in range(2)] == [1, 0]
    assert await store.budgets.boosts() == []
    await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="news", min_s=60.0))
    await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="news", max_s=90.0))
    assert await store.budgets.interval_limits() == [IntervalLimit(kind="tag", name="news", max_s=90.0)]
    await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="news"))
    assert await store.budgets.interval_limits() == []


async def _reserve(
    store: Store, owner: str, take: float | None, now: float = NOW, until: float = NOW + 60
) -> tuple[float | None, float]:
    """Reserve an amount of the budget `all` (None: return everything); (state before, unspent reservation before)."""
    seen: list[tuple[float | None, float]] = []

    def plan(states: Mapping[str, BudgetState], own: Mapping[str, float]) -> list[tuple[BudgetState, float]]:
        state, had = states.get("all"), own.get("all", 0.0)
        seen.append((None if state is None else state.credit, had))
        if take is None:
            return []
        credit = 10.0 if state is None else state.credit
        return [(BudgetState(name="all", price=0.5, credit=credit + had - take, at=now), take)]

    await store.budgets.reserve(owner, now, until, plan)
    return seen[-1]


async def reservations_are_made_spent_and_returned(store: Store) -> None:
    """A reservation is not available to others, the cost of a visit is spent, the rest is returned."""
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    assert await _reserve(store, "me", 3.0) == (None, 0.0)
    assert await _reserve(store, "you", 2.0) == (7.0, 0.0)
    paid = Batch(entries=(entry_of(one),), payer="me", paid=(("all", 2.0),))
    await store.visit_log.commit(paid)
    await store.visit_log.commit(paid)  # a lost answer asked for again
    assert [pace.credit for pace in await store.budgets.states()] == [5.0]
    assert await _reserve(store, "me", None) == (5.0, 1.0)
    assert await _reserve(store, "me", None) == (6.0, 0.0)
    await store.visit_log.commit(Batch(entries=(entry_of(two),), payer="me", paid=(("all", 1.5), ("unknown", 1.0))))
    assert [pace.credit for pace in await store.budgets.states()] == [4.5]


async def expired_reservations_return_to_the_budget(store: Store) -> None:
    """An expired reservation returns to the budget; the reservation of a restarted owner at once."""
    await _reserve(store, "dead", 4.0, until=NOW + 60)
    assert await _reserve(store, "me", None, now=NOW + 59) == (6.0, 0.0)
    assert await _reserve(store, "me", 1.0, now=NOW + 60, until=NOW + 600) == (10.0, 0.0)
    assert [pace.credit for pace in await store.budgets.states()] == [9.0]
    assert await _reserve(store, "dead", 2.0, now=NOW + 61) == (9.0, 0.0)
    assert await _reserve(store, "dead", None, now=NOW + 62) == (7.0, 2.0)
    assert [pace.credit for pace in await store.budgets.states()] == [9.0]
