"""Error pages with status 200 are failures, not changes; the next good content is compared with the last good one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import moved, reply
from webstrata.records import ChangeKind, Failure, FailureKind, PageRules

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


ON_FIRST_VISITS = {name: answer for name, answer in DISGUISES.items() if name != "nothing"}


@pytest.mark.parametrize("name", ON_FIRST_VISITS)
def test_error_pages_at_the_first_visit(run_scenario: Callable[..., None], name: str) -> None:
    """An error page at the first visit is a failure: no version, no template; the page's content is `new` later."""
    answer, kind = ON_FIRST_VISITS[name]

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, answer, reply(GOOD))
        await archiver.watch(PAGE)
        await archiver.crawl()
        page = await archiver.page(PAGE)
        assert (page.fingerprint, page.payload, page.memory, page.changes) == (None, None, b"", 0)
        async with archiver.node.store() as store:
            assert await store.pages.templates(["a.test"]) == {}
        await archiver.crawl(after_s=DAY_S)
        assert await archiver.outcomes(PAGE) == [kind, "new"]

    run_scenario(scenario)


def test_a_page_about_errors_is_content(run_scenario: Callable[..., None]) -> None:
    """A page that explains what `not found` means is taken as the page."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("<title>404</title><p>What the status 404 means: the page was not found."))
        await archiver.watch(PAGE)
        await archiver.crawl()
        assert await archiver.outcomes(PAGE) == ["new"]

    run_scenario(scenario)


def test_redirects_to_a_sign_in_page(run_scenario: Callable[..., None]) -> None:
    """A redirect to a sign-in page is a failure; the same sign-in page is content if its address is watched."""
    sign_in = "http://a.test/login?next=/page"

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, moved(sign_in, 302))
        archiver.servers.serve(sign_in, DISGUISES["login"][0])
        await archiver.watch(PAGE)
        await archiver.watch(sign_in)
        await archiver.crawl()
        assert await archiver.outcomes(PAGE) == ["login-wall"]
        assert (await archiver.visits(PAGE))[0].failure == Failure(
            kind=FailureKind.LOGIN_WALL, detail="redirected to a sign-in page"
        )
        assert await archiver.outcomes(sign_in) == ["new"]

    run_scenario(scenario)


def test_rules_select_a_part(run_scenario: Callable[..., None]) -> None:
    """A page whose rules select a part of what was served is content."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("<title>Log in</title><h1>Log in</h1><p id=note>Closed on Friday.</p>"))
        await archiver.watch(PAGE, page_rules=PageRules(include=("#note",)))
        await archiver.crawl()
        assert await archiver.outcomes(PAGE) == ["new"]

    run_scenario(scenario)


def test_warnings_above_a_page(run_scenario: Callable[..., None]) -> None:
    """A page with a PHP warning above its content is content; one that ends with a fatal error is incomplete."""
    warning = "<br />\n<b>Warning</b>:  Undefined variable $a in <b>/a.php</b> on line <b>1</b><br />\n"
    fatal = "<br />\n<b>Fatal error</b>:  Uncaught Error: x in /a.php:9\n in <b>/a.php</b> on line <b>9</b><br />\n"

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(GOOD), reply(warning + GOOD), reply(GOOD + fatal), reply(GOOD))
        await archiver.watch(PAGE)
        for _ in range(4):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "placeholder", "same"]

    run_scenario(scenario)


def test_refusals_name_the_service(run_scenario: Callable[..., None]) -> None:
    """The detail of a refusal by status names the service that the headers declare."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("<p>no", 403, x_dd_b="1", x_datadome="protected"))
        await archiver.watch(PAGE)
        await archiver.crawl()
        failure = (await archiver.visits(PAGE))[0].failure
        assert failure == Failure(kind=FailureKind.DENIED, detail="status 403: DataDome block")

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
