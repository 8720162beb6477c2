"""Contract of `HostStore`: one owner of a host at a time, and the state that it leaves to the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import Batch, HostLease, HostState, RobotsState
from webstrata.testing.store.examples import NOW

_STATE = HostState(host="a.example", next_at=NOW + 7, backoff_until=NOW + 60, backoff_count=1, last_duration_s=0.25)
_ROBOTS = RobotsState(origin="https://a.example:8443", at=NOW, status=200, body=b"User-agent: *\nCrawl-delay: 7\n")


async def _lease(
    store: Store,
    owner: str,
    wanted: Mapping[str, float],
    *,
    now: float = NOW,
    wish_until: float | None = None,
    changed_since: float = 0.0,
    clock_difference_s: float = 0.0,
) -> dict[str, HostLease]:
    return await store.hosts.lease(
        owner,
        wanted,
        now=now,
        wish_until=now + 10 if wish_until is None else wish_until,
        changed_since=changed_since,
        clock_difference_s=clock_difference_s,
    )


async def a_host_has_one_owner_until_the_lease_ends(store: Store) -> None:
    held = await _lease(store, "one", {"a.example": NOW + 30, "b.example": NOW + 30})
    assert all(lease.is_held and lease.until == NOW + 30 for lease in held.values())
    refused = (await _lease(store, "two", {"a.example": NOW + 50}, now=NOW + 29))["a.example"]
    assert not refused.is_held
    assert refused.until == NOW + 30
    assert (await _lease(store, "two", {"a.example": NOW + 60}, now=NOW + 30))["a.example"].is_held
    assert not (await _lease(store, "one", {"a.example": NOW + 60}, now=NOW + 30))["a.example"].is_held
    assert await _lease(store, "one", {}) == {}


async def a_lease_can_be_renewed(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30})
    renewed = (await _lease(store, "one", {"a.example": NOW + 50}, now=NOW + 20))["a.example"]
    assert renewed == HostLease(host="a.example", is_held=True, until=NOW + 50)
    assert not (await _lease(store, "two", {"a.example": NOW + 90}, now=NOW + 45))["a.example"].is_held


async def many_hosts_are_leased_at_once(store: Store) -> None:
    wanted = {f"h{n}.example": NOW + 30 for n in range(1200)}
    shares = await asyncio.gather(*(_lease(store, f"owner {n}", wanted) for n in range(3)))
    assert sorted(sum(lease.is_held for lease in share.values()) for share in shares) == [0, 0, 1200]


async def a_released_host_is_free_at_once_with_its_state(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30})
    await store.hosts.save([_STATE], [_ROBOTS])
    later = replace(_STATE, next_at=NOW + 9)
    await store.hosts.release("one", ["a.example"], [later], NOW + 1)
    taken = (await _lease(store, "two", {"a.example": NOW + 31}, now=NOW + 1))["a.example"]
    assert taken == HostLease(host="a.example", is_held=True, until=NOW + 31, state=later, robots=(_ROBOTS,))
    await store.hosts.release("one", ["a.example"], [], NOW + 2)  # not the owner any more
    assert not (await _lease(store, "one", {"a.example": NOW + 40}, now=NOW + 2))["a.example"].is_held


async def the_state_is_read_only_if_another_process_may_have_changed_it(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30})
    await store.hosts.release("one", ["a.example"], [_STATE], NOW + 1)
    again = (await _lease(store, "one", {"a.example": NOW + 32}, now=NOW + 2))["a.example"]
    assert again.is_held
    assert again.state is None
    await store.hosts.release("one", ["a.example"], [], NOW + 3)
    other = (await _lease(store, "two", {"a.example": NOW + 40}, now=NOW + 5, changed_since=NOW + 4))["a.example"]
    assert other.is_held
    assert other.state is None


async def a_wanted_host_goes_to_the_process_that_waits(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30, "b.example": NOW + 30})
    assert await store.hosts.wanted("one", NOW) == []
    await _lease(store, "two", {"a.example": NOW + 30}, wish_until=NOW + 10)
    assert await store.hosts.wanted("one", NOW + 1) == ["a.example"]
    assert await store.hosts.wanted("two", NOW + 1) == []
    await store.hosts.release("one", ["a.example"], [], NOW + 1)
    refused = (await _lease(store, "one", {"a.example": NOW + 30}, now=NOW + 2))["a.example"]
    assert not refused.is_held
    assert refused.until == NOW + 10
    assert (await _lease(store, "two", {"a.example": NOW + 32}, now=NOW + 2))["a.example"].is_held
    assert await store.hosts.wanted("two", NOW + 2) == []


async def a_wish_ends(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30})
    await _lease(store, "two", {"a.example": NOW + 30}, wish_until=NOW + 10)
    await store.hosts.release("one", ["a.example"], [], NOW + 1)
    assert (await _lease(store, "three", {"a.example": NOW + 41}, now=NOW + 11))["a.example"].is_held
    assert await store.hosts.wanted("three", NOW + 11) == []


async def clocks_may_differ(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 30})
    assert not (await _lease(store, "two", {"a.example": NOW + 60}, now=NOW + 30.5, clock_difference_s=1.0))[
        "a.example"
    ].is_held
    assert (await _lease(store, "two", {"a.example": NOW + 61}, now=NOW + 31, clock_difference_s=1.0))[
        "a.example"
    ].is_held


async def a_lease_of_a_clock_that_was_set_back_is_void(store: Store) -> None:
    await _lease(store, "one", {"a.example": NOW + 86_430}, now=NOW + 86_400)
    assert (await _lease(store, "two", {"a.example": NOW + 30}, now=NOW))["a.example"].is_held


async def an_older_state_does_not_replace_a_later_one(store: Store) -> None:
    """The batch of a process that has yielded the host may be committed after another one has used it."""
    await store.hosts.save([_STATE], [])
    await store.visit_log.commit(Batch(hosts=(replace(_STATE, next_at=NOW, backoff_until=0.0, backoff_count=0),)))
    assert (await store.queue.politeness())[0] == [_STATE]
    set_back = replace(_STATE, next_at=NOW - 86_400, backoff_until=0.0)
    await store.visit_log.commit(Batch(hosts=(set_back,)))
    assert (await store.queue.politeness())[0] == [set_back]
