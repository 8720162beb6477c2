"""Redirects, hop by hop: each is asked for with its own permit, archived and logged."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import moved, reply, robots
from webstrata.records import FailureKind

PAGE = "http://a.test/start"


def test_hops_are_logged_archived_and_permitted(live: Callable[..., None]) -> None:
    """Every hop is in the log with its place in the archive; the target's robots.txt is asked first."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, moved("/two", 302))
        life.town.play("http://a.test/two", moved("http://b.test/end", 307))
        life.town.play("http://b.test/end", reply("<p>here</p>"))
        await life.watch(PAGE)
        await life.crawl()
        visit = await life.last(PAGE)
        assert (visit.outcome, visit.status) == ("new", 200)
        assert [(hop.url, hop.status) for hop in visit.hops] == [(PAGE, 302), ("http://a.test/two", 307)]
        assert all(hop.position is not None for hop in visit.hops)
        assert [(asked.host, asked.path) for asked in life.town.asked] == [
            ("a.test", "/robots.txt"),
            ("a.test", "/start"),
            ("a.test", "/two"),
            ("b.test", "/robots.txt"),
            ("b.test", "/end"),
        ]
        archived = [(record.url, record.status) for record in life.records() if "robots" not in record.url]
        assert archived == [(PAGE, "302"), ("http://a.test/two", "307"), ("http://b.test/end", "200")]
        assert min(after - before for before, after in pairwise(life.town.times("a.test"))) >= 2
        assert life.town.requests(path="/end")[0].headers["host"] == "b.test"

    live(scenario)


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
def test_redirects_to_nowhere_are_outcomes_with_a_class(live: Callable[..., None], to: str, kind: FailureKind) -> None:
    """A loop, another scheme, a private address, an unknown name or a forbidden path ends the visit with its class."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, moved(to))
        life.town.play("http://a.test/away", moved("/start"))
        life.town.play("http://b.test/robots.txt", robots("User-agent: *\nDisallow: /forbidden"))
        await life.watch(PAGE)
        await life.crawl()
        visit = await life.last(PAGE)
        assert visit.failure is not None
        assert visit.failure.kind is kind
        assert visit.outcome == "error"
        assert life.records(PAGE)[0].status == "301"
        assert life.town.requests("b.test", "/forbidden") == []
        assert (await life.page(PAGE)).failures == 1

    live(scenario)


def test_too_many_redirects_end_the_visit(live: Callable[..., None]) -> None:
    """A chain longer than the limit is cut there; one exactly as long is followed to its end."""

    async def scenario(life: Life) -> None:
        for n in range(8):
            life.town.play(f"http://a.test/{n}", moved(f"/{n + 1}"))
        life.town.play("http://a.test/8", reply("<p>end</p>"))
        await life.watch("http://a.test/0", "http://a.test/5")
        await life.crawl()
        assert await life.outcomes("http://a.test/0") == ["redirects"]
        assert len((await life.last("http://a.test/0")).hops) == 3
        assert await life.outcomes("http://a.test/5") == ["new"]

    live(scenario, "fetch.max_redirects=3")


def test_a_hop_is_waited_for_past_the_end_of_the_round(live: Callable[..., None]) -> None:
    """A redirect at the end of a round is followed after the host's usual gap, not given up as a failure."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 50"))
        life.town.play(PAGE, moved("/end"))
        life.town.play("http://a.test/end", reply("<p>end</p>"))
        await life.watch(PAGE)
        await life.run(DAY_S / 24)
        assert await life.outcomes(PAGE) == ["new"]

    live(scenario)
