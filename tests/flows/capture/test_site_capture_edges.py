"""Captures under difficulties: redirects, errors, crawler traps, sites that go down, little time."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable

import pytest

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import START_AT, Life
from tests.flows.town import Asked, Reply, Script, moved, reply, robots
from webstrata.archive.wacz.reader import WaczReader


def after(moment: float, first: Reply, then: Reply) -> Script:
    """One response before a time, another one from then on."""
    return lambda asked: then if asked.at >= moment else first


def test_a_redirect_is_content(live: Callable[..., None]) -> None:
    """A URL that redirects is sharp if it redirects to the same target twice; the target is a separate page."""

    async def scenario(life: Life) -> None:
        site(life, old=moved("/new"), fickle=after(START_AT + 14, moved("/new"), moved("/")), new=links(), z=links())
        taken = await capture(life)
        assert taken.page("/old")["verdict"] == "sharp"
        assert taken.page("/old")["visit"]["content"] == "redirect:http://a.test/new"
        assert taken.page("/new")["visit"]["status"] == 200
        assert taken.page("/fickle")["verdict"] == "blurred"

    live(scenario)


def test_targets_of_redirects_are_requested_once(live: Callable[..., None]) -> None:
    """The target of a redirect is not requested with the redirect if it is a page of the capture, unless the page that
    redirects is watched."""

    async def scenario(life: Life) -> None:
        site(life, old=moved("/new"), away=moved("http://b.test/far"), watched=moved("/new"), z=links())
        life.town.play(f"{SITE}new", links())
        life.town.play("http://b.test/far", links())
        await life.watch(f"{SITE}watched")
        taken = await capture(life)
        assert set(taken.verdicts()) == {"/", "/old", "/new", "/away", "/watched", "/z"}
        assert set(taken.verdicts().values()) == {"sharp"}
        asked = Counter(asked.path for asked in life.town.asked)
        assert asked["/far"] == asked["/away"], "it is not a page of the capture"
        assert asked["/new"] <= 2 + 2, "as a page, and behind the watched one"
        assert {visit.outcome for visit in await life.visits(f"{SITE}watched")} <= {"new", "same"}
        with WaczReader(taken.finished.file) as package:
            kept = [record.url for record in package.kept() if not isinstance(record, str)]
        assert kept.count("http://b.test/far") >= asked["/far"]

    live(scenario)


@pytest.mark.parametrize(
    ("script", "visits", "why"),
    [
        (reply("gone", 404), 1, "status 404"),
        (reply("no", 403), 1, "status 403"),
        (reply("oops", 500), 2, "status 500"),
        (Reply(b"", "close"), 2, "reset"),
    ],
    ids=["404", "403", "500", "closed"],
)
def test_unreachable_pages(script: Reply, visits: int, why: str, live: Callable[..., None]) -> None:
    """A missing page is unreachable and visited once; after a server failure a page is visited once more."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), bad=script, c=links())
        taken = await capture(life)
        verdicts = taken.verdicts()
        assert verdicts.pop("/bad") == "unreachable"
        assert set(verdicts.values()) == {"sharp"}
        assert why in taken.page("/bad")["why"]
        assert len(await life.visits(f"{SITE}bad")) == visits

    live(scenario)


def test_robots_are_obeyed(live: Callable[..., None]) -> None:
    """A page that robots.txt disallows is not requested and is unreachable; the Crawl-delay is the pace."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), secret=links())
        life.town.play("http://a.test/robots.txt", robots("User-agent: *\nDisallow: /secret\nCrawl-delay: 7"))
        taken = await capture(life)
        assert taken.page("/secret")["verdict"] == "unreachable"
        assert life.town.requests("a.test", "/secret") == []
        assert taken.capture.state.started.slot_s == 7

    live(scenario)


def test_a_page_that_vanishes_is_blurred(live: Callable[..., None]) -> None:
    """A page that is gone at its revisit is blurred because its status changed."""

    async def scenario(life: Life) -> None:
        site(life, a=after(START_AT + 8, links(), reply("gone", 404)), b=links(), c=links())
        taken = await capture(life)
        page = taken.page("/a")
        assert (page["verdict"], page["visit"]["status"], page["revisit"]["status"]) == ("blurred", 200, 404)

    live(scenario)


def test_a_page_that_appears_later(live: Callable[..., None]) -> None:
    """A page that is first linked to at a revisit is not part of the instant; a further pass captures it."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), b=links())
        life.town.play(f"{SITE}fresh", links())
        life.town.play(SITE, after(START_AT + 8, links("/a", "/b"), links("/a", "/b", "/fresh")))
        taken = await capture(life)
        assert taken.capture.state.appeared == [f"{SITE}fresh"]
        assert taken.verdicts()["/fresh"] == "unreachable"
        repaired = await capture(life, repair=1)
        assert set(repaired.verdicts().values()) == {"sharp"}

    live(scenario)


def test_crawler_traps(live: Callable[..., None]) -> None:
    """Links that look like traps are counted and not followed; an endless site is captured up to `max_pages`."""

    async def scenario(life: Life) -> None:
        life.town.play(SITE, links("/n/0", "/x/x/x/x", "/deep"))
        for number in range(30):
            life.town.play(f"{SITE}n/{number}", links(f"/n/{number + 1}"))
        taken = await capture(life, max_pages=8)
        assert len(taken.verdicts()) == 8
        assert taken.capture.state.left_out > 0
        assert "/x/x/x/x" not in life.town.paths()

    live(scenario)


def test_a_site_that_goes_down(live: Callable[..., None]) -> None:
    """The capture ends after ten failures in a row; its downloads are certified, and it can be resumed."""

    async def scenario(life: Life) -> None:
        names = [f"p{number}" for number in range(30)]
        dead_at = START_AT + 40

        def page(asked: Asked) -> Reply:
            return Reply(b"", "close") if dead_at <= asked.at < dead_at + 30_000 else links()

        site(life, **dict.fromkeys(names, page))
        taken = await capture(life)
        assert "stopped answering" in taken.capture.stopped
        assert 10 < len(taken.capture.state.visited()) < 30
        assert len(life.town.asked) < 50
        await life.clock.sleep_until(dead_at + 40_000)
        again = await capture(life, resume=taken.certificate["capture"])
        assert again.capture.stopped == ""
        assert again.verdicts()["/"] == "sharp"
        assert again.certificate["counts"]["sharp"] > 10

    live(scenario)


def test_little_time(live: Callable[..., None]) -> None:
    """The visits end early enough for the revisits; pages that were found and not visited are listed."""

    async def scenario(life: Life) -> None:
        site(life, **{f"p{number}": links() for number in range(30)})
        taken = await capture(life, max_time_s=60.0)
        counts = taken.certificate["counts"]
        assert counts["sharp"] >= 10
        assert counts["unreachable"] == 31 - counts["sharp"]
        assert life.clock.now() - START_AT < 75
        unvisited = [page["why"] for page in taken.certificate["pages"] if page["visit"] is None]
        assert set(unvisited) == {"there was no time to visit it"}

    live(scenario)


def test_repair(live: Callable[..., None]) -> None:
    """A further pass makes the whole site sharp as of a new instant if a page changed once."""

    async def scenario(life: Life) -> None:
        moment = START_AT + 12
        site(life, a=changing_at(moment), b=links(), c=links(), d=links())
        taken = await capture(life, repair=2)
        assert set(taken.verdicts().values()) == {"sharp"}
        assert taken.capture.state.pass_number == 2, "there is nothing to repair in a second further pass"
        assert taken.certificate["instant"]["from"] > taken.page("/b")["visit"]["started"]

    live(scenario)


def test_other_instants_are_named(live: Callable[..., None]) -> None:
    """A page that keeps changing is blurred at the best instant; another instant at which it is sharp is listed."""

    async def scenario(life: Life) -> None:
        site(life, a=changing_at(*(START_AT + 5 * step for step in range(40))), b=links(), c=links(), d=links())
        taken = await capture(life, repair=1)
        index = list(taken.capture.state.pages).index(f"{SITE}a")
        instant = taken.finished.outcome.instant
        assert instant is not None
        covered = set(instant.pages).union(*(other.pages for other in taken.finished.outcome.others))
        assert index in covered
        assert len(instant.pages) >= 4

    live(scenario)


def test_truncated_responses_prove_nothing(live: Callable[..., None]) -> None:
    """A body that was truncated at the limit is no proof: the rest is unknown."""

    async def scenario(life: Life) -> None:
        site(life, long=reply("<p>" + "words " * 5000), b=links())
        taken = await capture(life)
        assert taken.page("/long")["verdict"] == "unreachable"
        assert "truncated" in taken.page("/long")["why"]
        assert len(await life.visits(f"{SITE}long")) == 1

    live(scenario, "fetch.max_body=10KB")


def test_bodies_beyond_the_decoding_limit(live: Callable[..., None]) -> None:
    """A body whose decoded size exceeds the limit is compared by its bytes as sent."""

    def bomb(asked: Asked) -> Reply:
        end = b"early" if asked.at < START_AT + 9 else b"later"
        return reply(gzip.compress(b"<p>" + b"words " * 30_000 + end, mtime=0), Content_Encoding="gzip")

    async def scenario(life: Life) -> None:
        site(life, bomb=bomb, b=links(), c=links(), d=links())
        taken = await capture(life)
        assert taken.page("/bomb")["visit"]["content"].startswith("payload:sha1:")
        assert taken.page("/bomb")["verdict"] == "blurred", "only bytes beyond the limit differ"

    live(scenario, "fetch.max_decoded=100KB")
