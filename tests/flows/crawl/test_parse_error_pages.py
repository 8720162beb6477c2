"""Error pages with status 200 are failures, not changes; the next good content is compared with the last good one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import moved, reply
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
def test_error_pages_are_failures(run_scenario: Callable[..., None], name: str) -> None:
    """The visit is a failure of its kind and archived; the next good content is `same` as the last one."""
    answer, kind = DISGUISES[name]

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(GOOD), answer, reply(GOOD))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", kind, "same"]
        bad = (await archiver.visits(PAGE))[1]
        assert (bad.kind, bad.counts, bad.significance) == (ChangeKind.ERROR, False, 0.0)
        assert bad.failure is not None
        assert bad.failure.detail
        assert bad.position is not None
        assert (await archiver.page(PAGE)).changes == 0

    run_scenario(scenario)


def test_changes_during_an_error_page_are_found(run_scenario: Callable[..., None]) -> None:
    """A content that changed while a challenge page was served is a change against the last good content."""

    async def scenario(archiver: Archiver) -> None:
        edited = GOOD.replace("Paragraph 7 of a story", "Paragraph 7 of another tale")
        archiver.servers.serve(PAGE, reply(GOOD), DISGUISES["captcha"][0], reply(edited))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "block-page", "changed"]

    run_scenario(scenario)


def test_a_lasting_notice_becomes_the_page(run_scenario: Callable[..., None]) -> None:
    """An ambiguous error page that is still served at the fifth visit is taken as the page."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(GOOD), DISGUISES["soft 404"][0])
        await archiver.watch(PAGE)
        for _ in range(7):
            await archiver.crawl(after_s=3 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", *["soft-404"] * 4, "changed", "same"]

    run_scenario(scenario)


def test_a_first_visit_accepts_an_ambiguous_error_page(run_scenario: Callable[..., None]) -> None:
    """A page that says `not found` at its first visit is taken as the page."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("<title>404</title><p>What the status 404 means: the page was not found."))
        await archiver.watch(PAGE)
        await archiver.crawl()
        assert await archiver.outcomes(PAGE) == ["new"]

    run_scenario(scenario)


def test_kinds_in_the_log(run_scenario: Callable[..., None]) -> None:
    """The log has the kind of each change: markup, content, links with the number of new ones, reverted."""
    linked = GOOD.replace("</main>", "<p>More: <a href=/x>one</a> <a href=/y>two</a></p></main>")
    other = linked.replace("/y", "/z")

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(GOOD), reply(GOOD + "<!-- -->"), reply(linked), reply(other), reply(linked))
        await archiver.watch(PAGE)
        for _ in range(5):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(PAGE)
        assert [(visit.outcome, visit.kind, visit.new_links) for visit in visits] == [
            ("new", "new", 0),
            ("same", "markup", 0),
            ("changed", "content", 2),
            ("changed", "links", 1),
            ("changed", "links", 0),
        ]
        assert all(0 < visit.significance <= 1 for visit in visits[2:4])
        assert visits[1].significance == 0

    run_scenario(scenario)


def test_moved(run_scenario: Callable[..., None]) -> None:
    """The same content at another URL is one change of the kind `moved`."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(GOOD), moved("http://b.test/new-home"))
        archiver.servers.serve("http://b.test/new-home", reply(GOOD))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(PAGE)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("changed", "moved"),
            ("same", "none"),
        ]

    run_scenario(scenario)
