"""Answers that are not the page: errors with a class, no changes; the next good one is compared with the last good."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import moved, reply
from webstrata.records import ChangeKind

PAGE = "http://a.test/page"
STORY = "".join(
    f"<p>Paragraph {number} of a story that is long enough to be missed when it is gone.</p>" for number in range(40)
)
GOOD = f"<title>The story</title><main><h1>Story</h1>{STORY}</main>"

DISGUISES = {
    "soft 404": (reply("<title>Page not found</title><p>Sorry, the page you requested was not found."), "soft-404"),
    "challenge": (
        reply("<title>Just a moment...</title><p>Enable JavaScript and cookies to continue", cf_mitigated="challenge"),
        "block-page",
    ),
    "captcha": (reply("<title>Robot check</title><p>Please verify that you are a human."), "block-page"),
    "login": (
        reply("<title>Log in</title><p>Please log in to continue.<form><input type=password></form>"),
        "login-wall",
    ),
    "maintenance": (reply("<title>Under maintenance</title><p>We will be back soon."), "placeholder"),
    "nothing": (reply(""), "empty"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_disguises_are_errors(live: Callable[..., None], name: str) -> None:
    """The visit is an error of its class and archived; the next good one is `same` as the last good content."""
    answer, kind = DISGUISES[name]

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(GOOD), answer, reply(GOOD))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=DAY_S)
        assert await life.outcomes(PAGE) == ["new", kind, "same"]
        bad = (await life.visits(PAGE))[1]
        assert (bad.kind, bad.counts, bad.significance) == (ChangeKind.ERROR, False, 0.0)
        assert bad.failure is not None
        assert bad.failure.detail
        assert bad.position is not None
        assert (await life.page(PAGE)).changes == 0

    live(scenario)


def test_changes_behind_a_disguise_are_seen(live: Callable[..., None]) -> None:
    """What changed while a challenge stood in the way is a change against the last good content."""

    async def scenario(life: Life) -> None:
        edited = GOOD.replace("Paragraph 7 of a story", "Paragraph 7 of another tale")
        life.town.play(PAGE, reply(GOOD), DISGUISES["captcha"][0], reply(edited))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=DAY_S)
        assert await life.outcomes(PAGE) == ["new", "block-page", "changed"]

    live(scenario)


def test_what_stays_is_the_page(live: Callable[..., None]) -> None:
    """A doubtful notice that is still there at the fifth visit is what the page has become."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(GOOD), DISGUISES["soft 404"][0])
        await life.watch(PAGE)
        for _ in range(7):
            await life.crawl(after_s=3 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", *["soft-404"] * 4, "changed", "same"]

    live(scenario)


def test_a_page_about_errors_is_a_page(live: Callable[..., None]) -> None:
    """A first visit knows no better: what says `not found` there is the page."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply("<title>404</title><p>What the status 404 means: the page was not found."))
        await life.watch(PAGE)
        await life.crawl()
        assert await life.outcomes(PAGE) == ["new"]

    live(scenario)


def test_kinds_in_the_log(live: Callable[..., None]) -> None:
    """Each visit says what kind of change it saw: markup, content, links with how many are new, back to what was."""
    linked = GOOD.replace("</main>", "<p>More: <a href=/x>one</a> <a href=/y>two</a></p></main>")
    other = linked.replace("/y", "/z")

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(GOOD), reply(GOOD + "<!-- -->"), reply(linked), reply(other), reply(linked))
        await life.watch(PAGE)
        for _ in range(5):
            await life.crawl(after_s=2 * DAY_S)
        visits = await life.visits(PAGE)
        assert [(visit.outcome, visit.kind, visit.new_links) for visit in visits] == [
            ("new", "new", 0),
            ("same", "markup", 0),
            ("changed", "content", 2),
            ("changed", "links", 1),
            ("changed", "links", 0),
        ]
        assert all(0 < visit.significance <= 1 for visit in visits[2:4])
        assert visits[1].significance == 0

    live(scenario)


def test_moved(live: Callable[..., None]) -> None:
    """The same content from another address is one change of the kind `moved`."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(GOOD), moved("http://b.test/new-home"))
        life.town.play("http://b.test/new-home", reply(GOOD))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        visits = await life.visits(PAGE)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("changed", "moved"),
            ("same", "none"),
        ]

    live(scenario)
