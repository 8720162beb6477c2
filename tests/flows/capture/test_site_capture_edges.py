"""Captures under difficulties: redirects, errors, crawler traps, sites that go down, little time."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable

import pytest

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, Script, moved, reply, robots
from webstrata.archive.wacz.reader import WaczReader


def after(moment: float, first: Reply, then: Reply) -> Script:
    """One response before a time, another one from then on."""
    return lambda request: then if request.at >= moment else first


def test_a_redirect_is_content(run_scenario: Callable[..., None]) -> None:
    """A URL that redirects is sharp if it redirects to the same target twice; the target is a separate page."""

    async def scenario(archiver: Archiver) -> None:
        site(
            archiver, old=moved("/new"), fickle=after(START_AT + 14, moved("/new"), moved("/")), new=links(), z=links()
        )
        taken = await capture(archiver)
        assert taken.page("/old")["verdict"] == "sharp"
        assert (taken.visit("/old")["kind"], taken.visit("/old")["target"]) == ("redirect", "http://a.test/new")
        assert taken.page("/old")["compared"] == ["target"]
        assert taken.visit("/new")["status"] == 200
        assert taken.page("/fickle")["verdict"] == "blurred"

    run_scenario(scenario)


def test_targets_of_redirects_are_requested_once(run_scenario: Callable[..., None]) -> None:
    """The target of a redirect is not requested with the redirect if it is a page of the capture, unless the page that
    redirects is watched."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, old=moved("/new"), away=moved("http://b.test/far"), watched=moved("/new"), z=links())
        archiver.servers.serve(f"{SITE}new", links())
        archiver.servers.serve("http://b.test/far", links())
        await archiver.watch(f"{SITE}watched")
        taken = await capture(archiver)
        assert set(taken.verdicts()) == {"/", "/old", "/new", "/away", "/watched", "/z"}
        assert set(taken.verdicts().values()) == {"sharp"}
        asked = Counter(request.path for request in archiver.servers.received)
        assert asked["/far"] == asked["/away"], "it is not a page of the capture"
        assert asked["/new"] <= 2 + 2, "as a page, and behind the watched one"
        assert {visit.outcome for visit in await archiver.visits(f"{SITE}watched")} <= {"new", "same"}
        with WaczReader(taken.finished.file) as package:
            kept = [record.url for record in package.kept() if not isinstance(record, str)]
        assert kept.count("http://b.test/far") >= asked["/far"]

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("script", "visits", "verdict", "kind", "why"),
    [
        (reply("gone", 404), 1, "absent", "absent", "status 404"),
        (reply("gone", 410), 1, "absent", "absent", "status 410"),
        (reply("no", 403), 1, "error", "error", "status 403"),
        (reply("oops", 500), 2, "error", "error", "status 500"),
        (Reply(b"", "close"), 2, "unreachable", "failure", "reset"),
        (moved("/bad"), 1, "error", "error", "redirect"),
        (moved("mailto:a@b.test"), 1, "error", "error", "redirects without"),
        (reply("", 302), 1, "error", "error", "redirects without"),
    ],
    ids=["404", "410", "403", "500", "closed", "to itself", "to no page", "without a target"],
)
def test_pages_without_content(
    script: Reply, visits: int, verdict: str, kind: str, why: str, run_scenario: Callable[..., None]
) -> None:
    """A page without content is never sharp: it is absent, an error or unreachable, with an observation of every
    request; after a server failure a page is visited once more."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), bad=script, c=links())
        taken = await capture(archiver)
        verdicts = taken.verdicts()
        assert verdicts.pop("/bad") == verdict
        assert set(verdicts.values()) == {"sharp"}
        assert why in taken.page("/bad")["why"]
        asked = archiver.servers.requests("a.test", "/bad")
        assert [seen["kind"] for seen in taken.observations("/bad")] == [kind] * len(asked)
        assert len(await archiver.visits(f"{SITE}bad")) == visits

    run_scenario(scenario)


def test_robots_are_obeyed(run_scenario: Callable[..., None]) -> None:
    """A page that robots.txt disallows is not requested and is unreachable; the Crawl-delay is the pace."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), secret=links())
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nDisallow: /secret\nCrawl-delay: 7"))
        taken = await capture(archiver)
        assert taken.page("/secret")["verdict"] == "unreachable"
        assert archiver.servers.requests("a.test", "/secret") == []
        assert taken.capture.state.started.slot_s == 7

    run_scenario(scenario)


def test_a_page_that_vanishes_is_blurred(run_scenario: Callable[..., None]) -> None:
    """A page that is gone at its revisit is blurred because its status changed."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=after(START_AT + 8, links(), reply("gone", 404)), b=links(), c=links())
        taken = await capture(archiver)
        page = taken.page("/a")
        assert page["verdict"] == "blurred"
        assert (taken.visit("/a")["status"], taken.revisit("/a")["status"]) == (200, 404)

    run_scenario(scenario)


def test_a_page_that_appears_later(run_scenario: Callable[..., None]) -> None:
    """A page that is first linked to at a revisit is not part of the instant; a further pass captures it."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links())
        archiver.servers.serve(f"{SITE}fresh", links())
        archiver.servers.serve(SITE, after(START_AT + 8, links("/a", "/b"), links("/a", "/b", "/fresh")))
        taken = await capture(archiver)
        assert taken.capture.state.appeared == [f"{SITE}fresh"]
        assert taken.verdicts()["/fresh"] == "unvisited"
        repaired = await capture(archiver, repair=1)
        assert set(repaired.verdicts().values()) == {"sharp"}

    run_scenario(scenario)


def test_crawler_traps(run_scenario: Callable[..., None]) -> None:
    """Links that look like traps are counted and not followed; an endless site is captured up to `max_pages`."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(SITE, links("/n/0", "/x/x/x/x", "/deep"))
        for number in range(30):
            archiver.servers.serve(f"{SITE}n/{number}", links(f"/n/{number + 1}"))
        taken = await capture(archiver, max_pages=8)
        assert len(taken.verdicts()) == 8
        assert taken.capture.state.left_out > 0
        assert "/x/x/x/x" not in archiver.servers.paths()

    run_scenario(scenario)


def test_a_site_that_goes_down(run_scenario: Callable[..., None]) -> None:
    """The capture ends after ten failures in a row; its downloads are certified, and it can be resumed."""

    async def scenario(archiver: Archiver) -> None:
        names = [f"p{number}" for number in range(30)]
        dead_at = START_AT + 40

        def page(request: ReceivedRequest) -> Reply:
            return Reply(b"", "close") if dead_at <= request.at < dead_at + 30_000 else links()

        site(archiver, **dict.fromkeys(names, page))
        taken = await capture(archiver)
        assert "stopped answering" in taken.capture.stopped
        assert 10 < len(taken.capture.state.visited()) < 30
        assert len(archiver.servers.received) < 50
        await archiver.clock.sleep_until(dead_at + 40_000)
        again = await capture(archiver, resume=taken.certificate["capture"])
        assert again.capture.stopped == ""
        assert again.verdicts()["/"] == "sharp"
        assert again.certificate["counts"]["sharp"] > 10

    run_scenario(scenario)


def test_little_time(run_scenario: Callable[..., None]) -> None:
    """The visits end early enough for the revisits; pages that were found and not visited are listed."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, **{f"p{number}": links() for number in range(30)})
        taken = await capture(archiver, max_time_s=60.0)
        counts = taken.certificate["counts"]
        assert counts["sharp"] >= 10
        assert counts["unvisited"] == 31 - counts["sharp"]
        assert archiver.clock.now() - START_AT < 75
        assert taken.certificate["unfinished"] == {
            "why": "there was no time to visit all pages",
            "not_visited": counts["unvisited"],
            "not_revisited": 0,
            "not_discovered": taken.certificate["unfinished"]["not_discovered"],
        }

    run_scenario(scenario)


def test_repair(run_scenario: Callable[..., None]) -> None:
    """A further pass makes the whole site sharp as of a new instant if a page changed once."""

    async def scenario(archiver: Archiver) -> None:
        moment = START_AT + 12
        site(archiver, a=changing_at(moment), b=links(), c=links(), d=links())
        taken = await capture(archiver, repair=2)
        assert set(taken.verdicts().values()) == {"sharp"}
        assert taken.capture.state.pass_number == 2, "there is nothing to repair in a second further pass"
        assert taken.certificate["instant"]["from"] > taken.visit("/b")["started"]

    run_scenario(scenario)


def test_other_instants_are_named(run_scenario: Callable[..., None]) -> None:
    """A page that keeps changing is blurred at the best instant; another instant at which it is sharp is listed."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=changing_at(*(START_AT + 5 * step for step in range(40))), b=links(), c=links(), d=links())
        taken = await capture(archiver, repair=1)
        index = list(taken.capture.state.pages).index(f"{SITE}a")
        outcome = taken.finished.outcome
        sharp = {row for row, page in enumerate(outcome.pages) if page.verdict == "sharp"}
        assert index in sharp.union(*(other.pages for other in outcome.others))
        assert len(sharp) >= 4

    run_scenario(scenario)


def test_truncated_responses_prove_nothing(run_scenario: Callable[..., None]) -> None:
    """A body that was truncated at the limit is no proof: the rest is unknown."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, long=reply("<p>" + "words " * 5000), b=links())
        taken = await capture(archiver)
        assert taken.page("/long")["verdict"] == "error"
        assert "truncated" in taken.page("/long")["why"]
        assert len(await archiver.visits(f"{SITE}long")) == 1

    run_scenario(scenario, "fetch.max_body=10KB")


def test_bodies_beyond_the_decoding_limit(run_scenario: Callable[..., None]) -> None:
    """A body whose decoded size exceeds the limit proves nothing: bytes beyond the limit may differ."""

    def bomb(request: ReceivedRequest) -> Reply:
        end = b"early" if request.at < START_AT + 9 else b"later"
        return reply(gzip.compress(b"<p>" + b"words " * 30_000 + end, mtime=0), Content_Encoding="gzip")

    async def scenario(archiver: Archiver) -> None:
        site(archiver, bomb=bomb, b=links(), c=links(), d=links())
        taken = await capture(archiver)
        assert taken.page("/bomb")["verdict"] == "error"
        assert "cannot be compared" in taken.page("/bomb")["why"]

    run_scenario(scenario, "fetch.max_decoded=100KB")
