"""A database that is made again from the archive equals the one that the crawl wrote."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np
import pytest

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import serving
from tests.flows.capture.capturing import capture
from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, moved, reply
from webstrata.archive.warc.visits import ArchivedVisits
from webstrata.columns import SEEN_LINK
from webstrata.records import Page, PageRole, PageRules, PageState, Visit

A = "http://a.test"
NOT_IN_THE_ARCHIVE = {"id", "page_id", "duration_s"}


def plain(visit: Visit) -> dict[str, Any]:
    """A visit without what the archive does not hold; times have the resolution of WARC files, a microsecond."""
    fields = {name: value for name, value in msgspec.to_builtins(visit).items() if name not in NOT_IN_THE_ARCHIVE}
    return {**fields, "at": round(visit.at, 6)}


def state(page: Page) -> dict[str, Any]:
    names = (
        "url", "host", "role", "visits", "changes", "failures", "last_outcome", "etag", "last_modified", "payload",
        "fingerprint", "gone", "full_bytes", "answers_304",
    )  # fmt: skip
    return {name: getattr(page, name) for name in names} | {
        name: None if (at := getattr(page, name)) is None else round(at, 6)
        for name in ("last_visit_at", "last_seen_at", "last_change_at", "interval_s")
    }


async def facts(archiver: Archiver, pages: dict[str, Page]) -> dict[str, Any]:
    """The stored features and links of each page."""
    ids = [page.id for page in pages.values()]
    async with archiver.node.store() as store:
        features, links = await store.facts.features(ids), await store.facts.links(ids)
    rows = {page_id: np.frombuffer(packed, SEEN_LINK) for page_id, packed in links.items()}
    return {
        url: (
            features.get(page.id),
            [(int(row["value"]), int(row["kind"]), round(row["first_at"], 6)) for row in rows.get(page.id, ())],
        )
        for url, page in pages.items()
    }


async def rebuilt(archiver: Archiver) -> None:
    """Delete the database and build it again."""
    await archiver.close()
    for file in archiver.home.path.glob("webstrata.db*"):
        file.unlink()
    result, kept = await archiver.node.rebuild(replace=False)
    assert (result.repeated, result.unreadable, kept) == (0, 0, [])


async def compare(archiver: Archiver) -> None:
    """Rebuild, and compare all visits with a response, all pages that have one, the originals, features and links."""
    pages = await archiver.pages()
    said = await facts(archiver, pages)
    visits = {url: await archiver.visits(url) for url in pages}
    await rebuilt(archiver)
    again = await archiver.pages()
    assert await facts(archiver, again) == {url: said[url] for url in again}
    assert again.keys() == {url for url in pages if any(visit.position or visit.hops for visit in visits[url])}
    for url, page in again.items():
        archived = [visit for visit in visits[url] if visit.position or visit.hops]
        assert [plain(visit) for visit in await archiver.visits(url)] == [plain(visit) for visit in archived], url
        if len(archived) == len(visits[url]):
            assert state(page) == state(pages[url]), url


def conditional(request: ReceivedRequest) -> Reply:
    if request.headers.get("if-none-match") == '"1"':
        return reply(status=304, ETag='"1"')
    return reply("<p>validated", ETag='"1"', Last_Modified="Tue, 01 Sep 2026 10:00:00 GMT")


def chunked(body: bytes) -> Reply:
    head = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nETag: W/"c"\r\n\r\n'
    return Reply(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))


def test_every_kind_of_visit(run_scenario: Callable[..., None]) -> None:
    """Changes, revisits, redirects, errors, codings, requisites: each visit has its outcome again."""

    async def scenario(archiver: Archiver) -> None:
        serve = archiver.servers.serve
        serve(f"{A}/changes", reply("<p>one two three"), reply("<p>one two four"), reply("<p>five six"))
        serve(f"{A}/same", reply("<p>always"))
        serve(f"{A}/validated", conditional)
        serve(f"{A}/chunked", chunked(b"<p>in pieces"), chunked(b"<p>in other pieces"))
        packed = gzip.compress(b"<p>" + b"packed " * 50, mtime=0)
        serve(f"{A}/gzip", reply(packed, Content_Encoding="gzip"))
        serve(f"{A}/moved", moved("/target"))
        serve(f"{A}/target", reply("<p>behind one"), reply("<p>behind two"))
        serve(f"{A}/circle", moved("/circle"))
        serve(f"{A}/gone", reply("<p>here"), reply("no", 404), reply("<p>here"))
        serve(f"{A}/broken", reply("<p>fine"), reply("oops", 500), reply("<p>fine"))
        serve(f"{A}/denied", reply("no", 403))
        serve(f"{A}/cut", reply("<p>half", length=5000, after="close"))
        serve(f"{A}/twin", reply("<p>always"))
        serve(f"{A}/robots.txt", reply("User-agent: *\nDisallow: /secret", kind="text/plain"))
        serve(f"{A}/with-style", reply('<link rel=stylesheet href="/s.css"><p>styled'))
        serve(f"{A}/s.css", reply("p { color: red }", kind="text/css"))
        paths = "changes same validated chunked gzip moved circle gone broken denied cut twin robots.txt secret"
        await archiver.watch(*(f"{A}/{path}" for path in paths.split()))
        await archiver.watch(f"{A}/with-style", requisites=True)
        for days in (0, 1, 2, 4):
            await archiver.crawl(after_s=days * DAY_S)
        outcomes = {visit for path in paths.split() for visit in await archiver.outcomes(f"{A}/{path}")}
        assert {"new", "same", "changed", "gone", "back", "server-error", "denied", "redirects"} <= outcomes
        await compare(archiver)
        assert (await archiver.page(f"{A}/s.css")).role is PageRole.REQUISITE
        assert (await archiver.last(f"{A}/moved")).hops
        await archiver.crawl(after_s=30 * DAY_S)
        assert await archiver.outcomes(f"{A}/same")

    run_scenario(scenario, DAILY)


def test_content_that_a_handler_made(run_scenario: Callable[..., None]) -> None:
    """The results of a query are the content of its page again; without its rule the page is an ordinary one."""
    with serving(asked := Endpoint(store_of("@prefix : <http://e.test/> . :a :p 1, 2 ."), shuffled=False)) as site:
        query = "SELECT * { ?s ?p ?o }"
        url = f"{site.url}/sparql?query={quote(query, safe='')}"

        async def scenario(archiver: Archiver) -> None:
            await archiver.watch(url, page_rules=PageRules(handler="sparql"))
            await archiver.crawl()
            await archiver.crawl(after_s=2 * DAY_S)
            assert asked.queries == [query] * 2
            before = [(round(one.at, 6), one.outcome, one.payload, one.hops) for one in await archiver.visits(url)]
            await rebuilt(archiver)
            after = [(round(one.at, 6), one.outcome, one.payload, one.hops) for one in await archiver.visits(url)]
            assert after == before

        run_scenario(scenario, f"fetch.allow_private=127.0.0.1/32:{site.port}")


def test_the_next_crawl_continues(run_scenario: Callable[..., None]) -> None:
    """The next visit of a rebuilt page is compared with its last version, and its interval is the one learned."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(f"{A}/", *(reply(f"<p>version {n}") for n in range(4)))
        await archiver.watch(f"{A}/")
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        interval_s = (await archiver.page(f"{A}/")).interval_s
        await rebuilt(archiver)
        assert (await archiver.page(f"{A}/")).interval_s == pytest.approx(interval_s)
        await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(f"{A}/") == ["new", "changed", "changed", "changed"]

    run_scenario(scenario, DAILY)


def test_pages_of_a_capture_are_not_due(run_scenario: Callable[..., None]) -> None:
    """A page that is only known from a site capture is not watched after the rebuild."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(f"{A}/", reply("<p>captured"))
        await capture(archiver)
        await rebuilt(archiver)
        assert (await archiver.page(f"{A}/")).state is PageState.CAPTURED
        assert await archiver.crawl(after_s=30 * DAY_S) == 0

    run_scenario(scenario)


def test_files_of_two_crawlers_are_merged(run_scenario: Callable[..., None]) -> None:
    """The visits of files that overlap in time come in the order of time; what both files hold counts once."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(f"{A}/", *(reply(f"<p>version {n}") for n in range(4)))
        await archiver.watch(f"{A}/")
        for _ in range(4):
            await archiver.crawl(after_s=2 * DAY_S)
        files = archiver.warcs()
        assert len(files) == 4
        first, *others = files
        first.write_bytes(first.read_bytes() + others[1].read_bytes())
        reader = archiver.node.reader()
        times = [visit.at for visit in ArchivedVisits(archiver.home.archive, reader) if visit.page]
        reader.close()
        assert times == sorted(times)
        assert len(times) == 5
        await archiver.close()
        archiver.home.database.unlink()
        result, _ = await archiver.node.rebuild(replace=False)
        assert (result.visits, result.repeated) == (4, 1)
        assert await archiver.outcomes(f"{A}/") == ["new", "changed", "changed", "changed"]

    run_scenario(scenario, DAILY)


def test_a_wait_that_a_host_asked_for_holds(run_scenario: Callable[..., None]) -> None:
    """After a rebuild no request is sent before the end of a Retry-After, and robots.txt is known."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(f"{A}/robots.txt", reply("User-agent: *\nCrawl-delay: 7", kind="text/plain"))
        archiver.servers.serve(f"{A}/", reply("<p>fine"), reply("later", 429, Retry_After=str(10 * 3600)))
        await archiver.watch(f"{A}/")
        await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(f"{A}/") == ["new", "backoff"]
        async with archiver.node.store() as store:
            before = await store.queue.politeness()
        await rebuilt(archiver)
        async with archiver.node.store() as store:
            after = await store.queue.politeness()
        assert [(one.host, one.backoff_count) for one in after[0]] == [("a.test", 1)]
        assert after[0][0].backoff_until == pytest.approx(before[0][0].backoff_until, abs=60)
        assert [(one.origin, one.status, one.body) for one in after[2]] == [
            (one.origin, one.status, one.body) for one in before[2]
        ]
        requests = len(archiver.records())
        await archiver.crawl(after_s=3 * 3600)
        assert len(archiver.records()) == requests
        await archiver.crawl(after_s=2 * DAY_S)
        assert len(archiver.records()) > requests

    run_scenario(scenario, DAILY)


def test_sparse_visits_are_learned_at_their_times(run_scenario: Callable[..., None]) -> None:
    """Pages visited on different days have the same states of the policy as after the crawls."""

    async def scenario(archiver: Archiver) -> None:
        for name in "abcd":
            url = f"http://{name}.test/"
            archiver.servers.serve(url, *(reply(f"<p>{name} {n}") for n in range(6)))
            await archiver.watch(url)
            await archiver.crawl(after_s=DAY_S)
        for _ in range(6):
            await archiver.crawl(after_s=2.5 * DAY_S)
        before = await archiver.pages()
        await rebuilt(archiver)
        after = await archiver.pages()
        ranking = archiver.node.schedule().ranking
        assert ranking is not None
        for url, page in before.items():
            assert page.visits > 1
            learned, again = (
                np.frombuffer(one.policy_state, dtype=ranking.policy.dtype)["levels"] for one in (page, after[url])
            )
            assert again == pytest.approx(learned, abs=1e-4), url

    run_scenario(scenario, "schedule.policy=value", "budget.total=1000/day", "schedule.max_interval=2d")
