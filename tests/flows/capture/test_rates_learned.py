"""What captures learn from earlier captures about the pages that they will make sharp."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from tests.flows.capture.capturing import SITE, capture, links, site
from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply
from webstrata.clock import DAY_S


def counting() -> Callable[[ReceivedRequest], Reply]:
    """A page with a visible counter, which differs at every download."""
    downloads = count()
    return lambda request: links(text=f"visitor number {next(downloads)}")


def test_a_page_that_changed_in_an_earlier_capture(run_scenario: Callable[..., None]) -> None:
    """Pages with a counter are expected to be sharp in the first capture, and not in the second; the others still are.
    The expected number of sharp pages is then that of the sharp pages."""

    async def scenario(archiver: Archiver) -> None:
        quiet = {name: links() for name in "abcdefghijklmnop"}
        site(archiver, **quiet, one=counting(), two=counting(), three=counting())
        listed = tuple(f"{SITE}{name}" for name in (*quiet, "one", "two", "three"))
        first = await capture(archiver, listed=listed)
        await archiver.clock.sleep_until(archiver.clock.now() + 7 * DAY_S)
        second = await capture(archiver, listed=listed)
        blurred = [path for path, verdict in first.verdicts().items() if verdict == "blurred"]
        assert set(blurred) <= {"/one", "/two", "/three"}
        assert len(blurred) >= 2
        for path in blurred:
            assert float(first.page(path)["expected"]) > 0.98
            revisited = len(second.observations(path)) > 1  # the page in the middle is downloaded once
            assert not revisited or float(second.page(path)["expected"]) < 0.6
        for name in quiet:
            assert float(second.page(f"/{name}")["expected"]) > 0.85
        counts = second.certificate["counts"]
        assert abs(float(counts["expected_sharp"]) - counts["sharp"]) < 1.0
        assert abs(float(first.certificate["counts"]["expected_sharp"]) - counts["sharp"]) > 1.5

    run_scenario(scenario)


def test_a_page_that_changed_is_planned_as_changing_in_the_next_pass(run_scenario: Callable[..., None]) -> None:
    """With repair, a page that the first pass found changed is not expected to stay the same in the second pass."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links(), one=counting(), two=counting())
        listed = tuple(f"{SITE}{name}" for name in ("a", "b", "one", "two"))
        taken = await capture(archiver, listed=listed, repair=1)
        first, second = taken.capture.state.plans
        changed = [url for url in listed[2:] if first.chances[url] < 1.0]
        assert changed
        assert all(first.chances[url] > 0.98 for url in changed)
        assert all(second.chances[url] < 0.6 for url in changed)
        assert all(second.chances[url] > 0.98 for url in listed[:2])

    run_scenario(scenario)
