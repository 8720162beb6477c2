"""What a user changes while the page is being visited: another process writes, and the visit must not undo it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.flows.conftest import DAY_S, Life
from tests.flows.test_noise import NOISY, PAGE, learned, restless
from tests.flows.town import Asked, Reply, reply
from webstrata.detect.memory import unpack
from webstrata.records import PageRules

PROGRAM = (sys.executable, "-c", "from webstrata.cli import main; main()")


def command(life: Life, *words: str) -> None:
    """The command line in a process of its own, to its end."""
    done = subprocess.run(
        [*PROGRAM, "--home", str(life.home.path), *words], capture_output=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr.decode()


def test_a_wish_set_during_a_visit_holds(live: Callable[..., None]) -> None:
    """`rules` while a visit is under way: the next visit asks in full and compares by the new rules only."""

    async def scenario(life: Life) -> None:
        asked: list[Asked] = []

        def answer(one: Asked) -> Reply:
            asked.append(one)
            if len(asked) == 2:
                command(life, "rules", PAGE, "--ignore", "css:.ad")
            body = f"<main><p>Words that stay.</p><p class=ad>Buy {len(asked)}</p></main>"
            return reply(body, ETag=f'"{len(asked)}"')

        life.town.play(PAGE, answer)
        await life.watch(PAGE, page_rules=PageRules(ignore=("css:b",)))
        await life.crawl()
        assert (await life.page(PAGE)).etag == '"1"'
        await life.crawl(after_s=8 * DAY_S)
        page = await life.page(PAGE)
        assert page.page_rules == PageRules(ignore=("css:.ad",))
        assert (page.etag, page.edits) == (None, 1), "the answer belongs to the old wishes"
        assert page.fingerprint is not None
        assert page.fingerprint.selected is None
        for _ in range(2):
            await life.crawl(after_s=8 * DAY_S)
        assert "if-none-match" not in asked[2].headers
        assert "if-none-match" in asked[3].headers
        assert (await life.outcomes(PAGE))[3:] == ["same"]

    live(scenario)


def test_a_place_counted_during_a_visit_counts(live: Callable[..., None]) -> None:
    """`noise --count` while a visit is under way: what the visit learned is kept, and the user's word too."""

    async def scenario(life: Life) -> None:
        play = restless(NOISY["a counter in the text"], {})
        asked: list[Asked] = []

        def answer(one: Asked) -> Reply:
            asked.append(one)
            if len(asked) == 9:
                command(life, "noise", PAGE, "--count", "1")
            return play(one)

        life.town.play(PAGE, answer)
        await life.watch(PAGE)
        for _ in range(8):
            await life.crawl(after_s=30 * 60)
        (place,) = await learned(life)
        for _ in range(3):
            await life.crawl(after_s=30 * 60)
        page = await life.page(PAGE)
        assert page.counted == (place.key,)
        assert (await life.outcomes(PAGE))[8:] == ["same", "changed", "changed"], "from the next visit on"
        (now,) = [one for one in unpack(page.memory, page.counted).noise if one.key == place.key]
        assert (now.state, now.changed) == ("denied", place.changed + 3)

    live(scenario, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m")
