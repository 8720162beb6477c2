"""Changes by a user while the page is being visited: the commit of the visit does not undo them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.crawl.test_judge_noise import NOISY, PAGE, learned, restless
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.detect.memory import unpack
from webstrata.records import PageRules, observed_by

PROGRAM = (sys.executable, "-c", "from webstrata.cli import main; main()")


def command(archiver: Archiver, *words: str) -> None:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [*PROGRAM, "--home", str(archiver.home.path), *words], capture_output=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr.decode()


def test_rules_set_during_a_visit_are_kept(run_scenario: Callable[..., None]) -> None:
    """`rules` during a visit: the next request is unconditional and is compared by the new rules only."""

    async def scenario(archiver: Archiver) -> None:
        requests: list[ReceivedRequest] = []

        def answer(request: ReceivedRequest) -> Reply:
            requests.append(request)
            if len(requests) == 2:
                command(archiver, "rules", PAGE, "--ignore", "css:.ad")
            body = f"<main><p>Words that stay.</p><p class=ad>Buy {len(requests)}</p></main>"
            return reply(body, ETag=f'"{len(requests)}"')

        archiver.servers.serve(PAGE, answer)
        await archiver.watch(PAGE, page_rules=PageRules(ignore=("css:b",)))
        await archiver.crawl()
        assert (await archiver.page(PAGE)).etag == '"1"'
        await archiver.crawl(after_s=8 * DAY_S)
        page = await archiver.page(PAGE)
        assert page.page_rules == PageRules(ignore=("css:b", "css:.ad"))
        assert (page.etag, page.edits) == (None, 1), "the response belongs to the old rules"
        assert page.fingerprint is not None
        assert page.fingerprint.rules == observed_by(PageRules(ignore=("css:b",)))
        for _ in range(2):
            await archiver.crawl(after_s=8 * DAY_S)
        assert "if-none-match" not in requests[2].headers
        assert "if-none-match" in requests[3].headers
        assert (await archiver.outcomes(PAGE))[2:] == ["same", "same"]

    run_scenario(scenario)


def test_noise_counted_during_a_visit_counts(run_scenario: Callable[..., None]) -> None:
    """`noise --count` during a visit: what the visit learned is kept, and so is the user's decision."""

    async def scenario(archiver: Archiver) -> None:
        noisy_page = restless(NOISY["a counter in the text"], {})
        requests: list[ReceivedRequest] = []

        def answer(request: ReceivedRequest) -> Reply:
            requests.append(request)
            if len(requests) == 9:
                command(archiver, "noise", PAGE, "--count", "1")
            return noisy_page(request)

        archiver.servers.serve(PAGE, answer)
        await archiver.watch(PAGE)
        for _ in range(8):
            await archiver.crawl(after_s=30 * 60)
        (place,) = await learned(archiver)
        for _ in range(3):
            await archiver.crawl(after_s=30 * 60)
        page = await archiver.page(PAGE)
        assert page.counted == (place.key,)
        assert (await archiver.outcomes(PAGE))[8:] == ["same", "changed", "changed"], "from the next visit on"
        (now,) = [one for one in unpack(page.memory, page.counted).noise if one.key == place.key]
        assert (now.state, now.changed) == ("denied", place.changed + 3)

    run_scenario(
        scenario, DAILY, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m"
    )
