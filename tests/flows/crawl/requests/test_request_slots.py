"""Slots of open requests: slow requests do not count, and hosts that were quick do not wait for slow ones."""

from __future__ import annotations

import asyncio

import pytest

from webstrata.flows.crawl.requests import request_slots
from webstrata.flows.crawl.requests.request_slots import OPEN_PER_SLOT, RequestSlot, RequestSlots


@pytest.fixture
def soon_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_slots, "SLOW_S", 0.01)


async def take_many(slots: RequestSlots, count: int) -> list[RequestSlot]:
    """Slots of so many hosts that are not known yet."""
    return [await asyncio.wait_for(slots.take(f"{n}.test"), 30) for n in range(count)]


async def is_refused(slots: RequestSlots, host: str) -> bool:
    try:
        (await asyncio.wait_for(slots.take(host), 0.2)).free()
    except TimeoutError:
        return True
    return False


@pytest.mark.usefixtures("soon_slow")
def test_slow_requests_give_their_slots_to_others() -> None:
    """Requests that never end do not stop others until there are very many; each slot is given back once."""

    async def main() -> None:
        slots = RequestSlots(2)
        stuck = await take_many(slots, 2 * OPEN_PER_SLOT)
        assert await is_refused(slots, "new.test")
        for slot in stuck:
            slot.free()
        again = await take_many(slots, 2 * OPEN_PER_SLOT)
        assert await is_refused(slots, "new.test")
        again.pop().free()
        assert not await is_refused(slots, "new.test")

    asyncio.run(main())


@pytest.mark.usefixtures("soon_slow")
def test_hosts_that_were_quick_have_slots_of_their_own() -> None:
    """When slow hosts have all slots that they may have, a host that was quick still gets one, until it is slow."""

    async def main() -> None:
        slots = RequestSlots(8, 8)
        (await slots.take("quick.test")).free()
        stuck = await take_many(slots, 6)
        assert await is_refused(slots, "new.test")
        first, _ = [await asyncio.wait_for(slots.take("quick.test"), 30) for _ in range(2)]
        assert await is_refused(slots, "quick.test"), "all slots are taken"
        first.free()
        assert await is_refused(slots, "quick.test"), "its last request was slow"
        for _ in range(2):
            stuck.pop().free()
        assert not await is_refused(slots, "quick.test")

    asyncio.run(main())


@pytest.mark.usefixtures("soon_slow")
def test_a_slow_request_in_a_slot_of_quick_hosts_is_ended_when_it_is_needed() -> None:
    """A host that was quick and is slow then does not keep the slot from another host that was quick."""

    async def main() -> None:
        slots = RequestSlots(4, 4)
        for host in ("first.test", "second.test"):
            (await slots.take(host)).free()
        unreserved = await take_many(slots, 3)

        async def turn_slow() -> None:
            slot = await slots.take("first.test")
            slot.task = asyncio.current_task()
            try:
                await asyncio.sleep(300)
            except asyncio.CancelledError:
                assert slot.is_ended
            finally:
                slot.free()

        turned_slow = asyncio.create_task(turn_slow())
        await asyncio.sleep(0.05)
        assert not turned_slow.done(), "nobody waits"
        await asyncio.wait_for(slots.take("second.test"), 30)
        await turned_slow
        assert not any(slot.is_ended for slot in unreserved)

    asyncio.run(main())


def test_a_quick_robots_file_proves_nothing() -> None:
    """A host of which only robots.txt was quick has no right to the slots of quick hosts."""

    async def main() -> None:
        slots = RequestSlots(4, 4)
        slot = await slots.take("new.test")
        slot.proves = False
        slot.free()
        await take_many(slots, 3)
        assert await is_refused(slots, "new.test")

    asyncio.run(main())


def test_requests_within_the_limit_wait_for_each_other() -> None:
    """Requests wait until one of two is over, and are served in the order in which they came."""

    async def main() -> None:
        slots = RequestSlots(2)
        taken = await take_many(slots, 2)
        waiting = [asyncio.create_task(slots.take(f"waits-{n}.test")) for n in range(3)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting)
        waiting[0].cancel()
        taken[0].free()
        await asyncio.wait_for(waiting[1], 30)
        assert not waiting[2].done()
        taken[1].free()
        await asyncio.wait_for(waiting[2], 30)

    asyncio.run(main())


def test_a_slot_that_is_granted_to_a_cancelled_request_is_given_back() -> None:
    """A task that is cancelled in the moment in which it gets a slot does not keep it."""

    async def main() -> None:
        slots = RequestSlots(1)
        (taken,) = await take_many(slots, 1)
        waiting = asyncio.create_task(slots.take("waits.test"))
        await asyncio.sleep(0)
        taken.free()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        (await asyncio.wait_for(slots.take("next.test"), 30)).free()

    asyncio.run(main())
