"""Redirects: each hop is requested with its own permit, archived and logged."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import moved, reply, robots
from webstrata.records import FailureKind

PAGE = "http://a.test/start"


def test_hops_are_logged_archived_and_permitted(run_scenario: Callable[..., None]) -> None:
    """Every hop is logged with its archive position; the robots.txt of the target is requested first."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, moved("/two", 302))
        archiver.servers.serve("http://a.test/two", moved("http://b.test/end", 307))
        archiver.servers.serve("http://b.test/end", reply("<p>here</p>"))
        await archiver.watch(PAGE)
        await archiver.crawl()
        visit = await archiver.last(PAGE)
        assert (visit.outcome, visit.status) == ("new", 200)
        assert [(hop.url, hop.status) for hop in visit.hops] == [(PAGE, 302), ("http://a.test/two", 307)]
        assert all(hop.position is not None for hop in visit.hops)
        assert [(request.host, request.path) for request in archiver.servers.received] == [
            ("a.test", "/robots.txt"),
            ("a.test", "/start"),
            ("a.test", "/two"),
            ("b.test", "/robots.txt"),
            ("b.test", "/end"),
        ]
        archived = [(record.url, record.status) for record in archiver.records() if "robots" not in record.url]
        assert archived == [(PAGE, "302"), ("http://a.test/two", "307"), ("http://b.test/end", "200")]
        assert min(after - before for before, after in pairwise(archiver.servers.times("a.test"))) >= 2
        assert archiver.servers.requests(path="/end")[0].headers["host"] == "b.test"

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("to", "kind"),
    [
        ("/start", FailureKind.REDIRECTS),
        ("/away", FailureKind.REDIRECTS),
        ("file:///etc/passwd", FailureKind.REDIRECTS),
        ("ftp://b.test/x", FailureKind.REDIRECTS),
        ("javascript:alert(1)", FailureKind.REDIRECTS),
        ("http://user:secret@b.test/", FailureKind.REDIRECTS),
        ("", FailureKind.REDIRECTS),
        ("http://10.0.0.1/", FailureKind.BLOCKED),
        ("http://127.0.0.1:1/", FailureKind.BLOCKED),
        ("http://[::1]/", FailureKind.BLOCKED),
        ("http://169.254.169.254/latest/meta-data/", FailureKind.BLOCKED),
        ("http://no-such-name.invalid/", FailureKind.DNS),
        ("http://b.test/forbidden", FailureKind.ROBOTS),
    ],
)
def test_redirects_that_cannot_be_followed_are_failures(
    run_scenario: Callable[..., None], to: str, kind: FailureKind
) -> None:
    """A loop, another scheme, a private address, an unknown name or a forbidden path is a failure of its kind."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, moved(to))
        archiver.servers.serve("http://a.test/away", moved("/start"))
        archiver.servers.serve("http://b.test/robots.txt", robots("User-agent: *\nDisallow: /forbidden"))
        await archiver.watch(PAGE)
        await archiver.crawl()
        visit = await archiver.last(PAGE)
        assert visit.failure is not None
        assert visit.failure.kind is kind
        assert visit.outcome == "error"
        assert archiver.records(PAGE)[0].status == "301"
        assert archiver.servers.requests("b.test", "/forbidden") == []
        assert (await archiver.page(PAGE)).failures == 1

    run_scenario(scenario)


def test_too_many_redirects_end_the_visit(run_scenario: Callable[..., None]) -> None:
    """A chain longer than the limit is a failure; one of exactly the limit is followed to its end."""

    async def scenario(archiver: Archiver) -> None:
        for n in range(8):
            archiver.servers.serve(f"http://a.test/{n}", moved(f"/{n + 1}"))
        archiver.servers.serve("http://a.test/8", reply("<p>end</p>"))
        await archiver.watch("http://a.test/0", "http://a.test/5")
        await archiver.crawl()
        assert await archiver.outcomes("http://a.test/0") == ["redirects"]
        assert len((await archiver.last("http://a.test/0")).hops) == 3
        assert await archiver.outcomes("http://a.test/5") == ["new"]

    run_scenario(scenario, "fetch.max_redirects=3")


def test_a_hop_is_waited_for_past_the_end_of_the_round(run_scenario: Callable[..., None]) -> None:
    """A redirect at the end of a round is followed after the host's usual gap, and is no failure."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 50"))
        archiver.servers.serve(PAGE, moved("/end"))
        archiver.servers.serve("http://a.test/end", reply("<p>end</p>"))
        await archiver.watch(PAGE)
        await archiver.run(DAY_S / 24)
        assert await archiver.outcomes(PAGE) == ["new"]

    run_scenario(scenario)
