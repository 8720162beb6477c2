"""Every request of a capture is an observation of its URL: failures, redirects on the way, frames and retries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.capture.capturing import SITE, capture, links, site
from tests.flows.conftest import START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, moved, reply, robots


def failing(problem: Reply, *, until: float) -> Callable[[ReceivedRequest], Reply]:
    """A page that fails at first."""
    return lambda request: problem if request.at < until else links()


def failing_once(problem: Reply) -> Callable[[ReceivedRequest], Reply]:
    """A page that fails at the second request."""
    requests: list[ReceivedRequest] = []

    def script(request: ReceivedRequest) -> Reply:
        requests.append(request)
        return problem if len(requests) == 2 else links()

    return script


PROBLEMS = {
    "403": (reply("no", 403), "error"),
    "500": (reply("oops", 500), "error"),
    "404": (reply("gone", 404), "absent"),
    "reset": (Reply(b"", "close"), "failure"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_at_the_revisit_blurs(name: str, run_scenario: Callable[..., None]) -> None:
    """A page that fails at its revisit is blurred, although a later request brings the same content again."""
    problem, kind = PROBLEMS[name]

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=failing_once(problem), b=links(), c=links(), d=links())
        taken = await capture(archiver)
        kinds = [seen["kind"] for seen in taken.observations("/a")]
        assert kinds[:2] == ["content", kind]
        assert taken.page("/a")["verdict"] == "blurred"

    run_scenario(scenario)


@pytest.mark.parametrize("name", PROBLEMS)
def test_repair_of_pages_without_content(name: str, run_scenario: Callable[..., None]) -> None:
    """A page that failed at its visit is requested again in a further pass, and is sharp if it has content then."""
    problem, _ = PROBLEMS[name]

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=failing(problem, until=START_AT + 14), b=links(), c=links())
        taken = await capture(archiver, repair=1)
        assert set(taken.verdicts().values()) == {"sharp"}

    run_scenario(scenario)


def test_a_missing_page_costs_one_request(run_scenario: Callable[..., None]) -> None:
    """If only missing pages are not sharp, a further pass requests these once and nothing else."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links(), gone=reply("gone", 404), away=reply("gone", 410))
        taken = await capture(archiver, repair=5)
        assert len(taken.observations("/gone")) == len(taken.observations("/away")) == 2
        assert max(len(taken.observations(path)) for path in ("/", "/a", "/b")) == 2
        assert taken.verdicts()["/gone"] == "absent"

    run_scenario(scenario)


def test_a_loop_of_redirects(run_scenario: Callable[..., None]) -> None:
    """Two pages that redirect to each other show no content: neither is sharp, nor the instant."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=moved("/b"), b=moved("/a"), c=links())
        taken = await capture(archiver)
        verdicts = taken.verdicts()
        assert verdicts["/"] == verdicts["/c"] == "sharp"
        assert verdicts["/a"] == verdicts["/b"] == "error"
        whys = [seen.get("why", "") for path in ("/a", "/b") for seen in taken.observations(path)]
        assert any("redirect loop" in why for why in whys)

    run_scenario(scenario)


def test_targets_of_redirects(run_scenario: Callable[..., None]) -> None:
    """The target of a redirect to another site is an observed URL that is no page, also if robots.txt disallows it."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=moved("http://b.test/far"), b=moved("http://c.test/secret"), z=links())
        archiver.servers.serve("http://b.test/far", links())
        archiver.servers.serve("http://c.test/robots.txt", robots("User-agent: *\nDisallow: /"))
        taken = await capture(archiver)
        others = {entry["url"]: entry["observations"] for entry in taken.certificate["others"]}
        assert set(others) == {"http://b.test/far", "http://c.test/secret"}
        assert {seen["kind"] for seen in others["http://b.test/far"]} == {"content"}
        assert {seen["kind"] for seen in others["http://c.test/secret"]} == {"failure"}
        assert "robots" in others["http://c.test/secret"][0]["why"]

    run_scenario(scenario)


def test_a_watched_redirect_observes_its_target(run_scenario: Callable[..., None]) -> None:
    """A page that another page's visit requests on the way has an observation of this request too."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, watched=moved("/new"), b=links(), c=links())
        archiver.servers.serve(f"{SITE}new", links())
        await archiver.watch(f"{SITE}watched")
        taken = await capture(archiver)
        asked = archiver.servers.requests("a.test", "/new")
        assert len(taken.observations("/new")) == len(asked) > 2
        assert taken.page("/new")["verdict"] == "sharp"

    run_scenario(scenario)


def test_requisites_are_judged(run_scenario: Callable[..., None]) -> None:
    """A file is coherent if the server says that it was last modified before the instant, and contradicts the page if
    it was modified after it; pages name the files of their style sheets."""

    async def scenario(archiver: Archiver) -> None:
        head = "<link rel=stylesheet href=/s.css><img src=/new.png>"
        site(archiver, a=reply(f"<title>t</title>{head}<main><p>words</p></main>"), b=links())
        files = {"s.css": "p{background:url(/old.png)}", "new.png": "n", "old.png": "o"}
        dates = {"new.png": "Fri, 01 Jan 2100 00:00:00 GMT"}
        for name, text in files.items():
            date = dates.get(name, "Sat, 01 Jan 2000 00:00:00 GMT")
            kind = "text/css" if name.endswith("css") else "image/png"
            archiver.servers.serve(f"{SITE}{name}", reply(text, kind=kind, Last_Modified=date))
        taken = await capture(archiver)
        verdicts = {entry["url"].removeprefix(SITE): entry["verdict"] for entry in taken.certificate["requisites"]}
        assert verdicts == {"s.css": "coherent", "new.png": "violative", "old.png": "coherent"}
        page = taken.page("/a")
        assert page["parts"] == [f"{SITE}{name}" for name in ("s.css", "new.png", "old.png")]
        assert page["composite"]["verdict"] == "violative"
        assert page["composite"]["contradicting"] == [f"{SITE}new.png"]
        assert taken.page("/b")["composite"]["verdict"] == "sharp"

    run_scenario(scenario)


def test_caches(run_scenario: Callable[..., None]) -> None:
    """Every request asks caches not to respond with copies; those that do are marked, with age and headers."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=reply("<p>cached words", Age="30", X_Cache="HIT"), b=reply("<p>fresh words", Age="0"))
        taken = await capture(archiver)
        assert (taken.visit("/a")["age_s"], taken.visit("/a")["cache"]) == (30, "X-Cache: HIT")
        assert (taken.page("/a")["cached"], taken.page("/b")["cached"]) == (True, False)
        assert taken.certificate["counts"]["cached"] == 1
        for request in archiver.servers.received:
            assert request.headers["cache-control"] == request.headers["pragma"] == "no-cache"
            assert request.headers["accept-encoding"] == "gzip"

    run_scenario(scenario)
