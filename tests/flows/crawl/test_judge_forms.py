"""Another representation of a page is no change of its content; data in any format is compared as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import Answer, serving
from tests.flows.conftest import DAY_S, Archiver
from tests.flows.crawl.test_visit_pipeline_handlers import beside
from tests.flows.scripted_servers import Reply, reply
from webstrata.records import PageRules

THING, CONTEXT = "http://a.test/thing", "http://a.test/context"
LD = "application/ld+json"


def page(text: str, **headers: Any) -> Reply:
    return reply(f"<p>{text} are words that people read", **headers)


def turtle(size: int, **headers: Any) -> Reply:
    return reply(f"<{THING}> <http://e.test/size> {size} .", kind="text/turtle", **headers)


def triple(size: int) -> Reply:
    line = f'<{THING}> <http://e.test/size> "{size}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    return reply(line, kind="application/n-triples", Vary="Accept")


def captures(archiver: Archiver, url: str) -> int:
    """The number of records of this URL, as another implementation reads them."""
    count = 0
    for path in archiver.warcs():
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                count += record.rec_type in ("response", "revisit") and record.rec_headers["WARC-Target-URI"] == url
    return count


VARY: dict[str, Any] = {"Vary": "Origin, accept"}
GERMAN = {"Vary": "Accept-Encoding, Accept-Language", "Content-Language": "de"}
ENGLISH = {"Vary": "*", "Content-Language": "EN"}
# Answers in a row, and what each visit says.
SERVERS = {
    "another form": ([page("these"), turtle(1, **VARY)], [("new", "new"), ("same", "form")]),
    "and then a change in it": (
        [page("these"), turtle(1, **VARY), turtle(2, **VARY)],
        [("new", "new"), ("same", "form"), ("changed", "data")],
    ),
    "another format of the same graph": ([turtle(1, **VARY), triple(1)], [("new", "new"), ("same", "markup")]),
    "another format and another graph": ([turtle(1, **VARY), triple(2)], [("new", "new"), ("changed", "data")]),
    "no choice was offered": ([page("these"), turtle(1)], [("new", "new"), ("changed", "content")]),
    "the same form with other words": (
        [page("these", **VARY), page("those", **VARY)],
        [("new", "new"), ("changed", "content")],
    ),
    "another language": (
        [page("these", **GERMAN), page("those", **ENGLISH)],
        [("new", "new"), ("same", "form")],
    ),
    "another language of data": (
        [turtle(1, **GERMAN), turtle(2, **ENGLISH)],
        [("new", "new"), ("same", "form")],
    ),
    "and then a change in that language": (
        [page("these", **GERMAN), page("those", **ENGLISH), page("others", **ENGLISH)],
        [("new", "new"), ("same", "form"), ("changed", "content")],
    ),
    "two languages by turns, then a change": (
        [page(("these", "those")[number % 2], **(GERMAN, ENGLISH)[number % 2]) for number in range(8)]
        + [page("others", **ENGLISH)],
        [("new", "new"), *[("same", "form")] * 7, ("changed", "content")],
    ),
    "another language without a choice": (
        [page("these", **{"Content-Language": "de"}), page("those", **{"Content-Language": "en"})],
        [("new", "new"), ("changed", "content")],
    ),
    "a language that is told once only": (
        [page("these", **GERMAN), page("those", Vary="Accept-Language")],
        [("new", "new"), ("changed", "content")],
    ),
    "a picture in another format": (
        [reply(b"\x89PNG\r\n\x1a\n", kind="image/png", **VARY), reply(b"RIFF", kind="image/webp", **VARY)],
        [("new", "new"), ("same", "form")],
    ),
}


@pytest.mark.parametrize("name", SERVERS)
def test_representations(run_scenario: Callable[..., None], name: str) -> None:
    """Another format from a server that offers several is no change; all of them are archived."""
    answers, expected = SERVERS[name]

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(THING, *answers)
        await archiver.watch(THING, page_rules=PageRules(handler="http"))
        for _ in answers:
            await archiver.crawl(after_s=2 * DAY_S)
        assert [(visit.outcome, visit.kind) for visit in await archiver.visits(THING)] == expected
        assert len(archiver.records(THING)) == len(answers)

    run_scenario(scenario)


def rdfa(size: int, hour: int) -> Reply:
    return reply(f"<p about=# typeof=schema:Thing><b property=schema:size>{size}</b> <i>at {hour} o'clock</i></p>")


def test_rdfa(run_scenario: Callable[..., None]) -> None:
    """The RDFa of a page is compared as a graph, whatever its other content, and archived as N-Quads."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(THING, rdfa(1, 1), rdfa(1, 2), rdfa(2, 2))
        await archiver.watch(THING, page_rules=PageRules(handler="rdf"))
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(THING)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("same", "none"),
            ("changed", "data"),
        ]
        reader = archiver.node.reader()
        position = visits[-1].position
        assert position is not None
        assert b'<http://schema.org/size> "2" .' in reader.read(position).body
        reader.close()

    run_scenario(scenario)


def test_context_elsewhere(run_scenario: Callable[..., None]) -> None:
    """A JSON-LD context is archived with the visit; a renamed key is no change, another meaning of it is one."""

    def context(key: str, meaning: str) -> Reply:
        return reply(f'{{"@context": {{"{key}": "http://e.test/{meaning}"}}}}', kind=LD)

    def thing(key: str) -> Reply:
        return reply(f'{{"@context": "/context", "@id": "{THING}", "{key}": 1}}', kind=LD)

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(THING, thing("size"), thing("groesse"), thing("groesse"))
        archiver.servers.serve(CONTEXT, context("size", "s"), context("groesse", "s"), context("groesse", "other"))
        await archiver.watch(THING, page_rules=PageRules(handler="rdf"))
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(THING)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("same", "none"),
            ("changed", "data"),
        ]
        assert captures(archiver, CONTEXT) == 3
        assert [hop.url for hop in visits[0].hops] == [THING, CONTEXT]

    run_scenario(scenario)


def test_context_that_goes(run_scenario: Callable[..., None]) -> None:
    """A missing context is a failure, later the page is compared as JSON: it is never a change of the page."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(THING, reply(f'{{"@context": "/context", "@id": "{THING}", "size": 1}}', kind=LD))
        archiver.servers.serve(CONTEXT, reply('{"@context": {"size": "http://e.test/s"}}', kind=LD), reply("gone", 410))
        await archiver.watch(THING, page_rules=PageRules(handler="rdf"))
        for _ in range(8):
            await archiver.crawl(after_s=20 * DAY_S)
        visits = await archiver.visits(THING)
        found = [visit.failure.kind if visit.failure else visit.kind for visit in visits]
        assert found[:8] == ["new", *["partial-answer"] * 5, "form", "none"]
        assert not any(visit.counts for visit in visits)

    run_scenario(scenario)


# Hours until the next visit, and whether it goes on where the last one stopped.
@pytest.mark.parametrize(("hours", "goes_on"), [(2, True), (25, False)])
def test_interrupted_dataset(run_scenario: Callable[..., None], hours: int, goes_on: bool) -> None:
    """An incomplete download of a dataset is a failure that says where it ended; a visit within a day continues it."""
    endpoint = Endpoint(store_of("@prefix : <http://e.test/> . :a :p 1, 2, 3 ."))
    broken = True

    def fault(query: str) -> Answer | None:
        return Answer(500) if broken and "OFFSET" in query and not query.endswith("OFFSET 0") else None

    endpoint.faults.append(fault)
    with serving(endpoint) as site:

        async def scenario(archiver: Archiver) -> None:
            nonlocal broken
            url = f"{site.url}/sparql"
            await archiver.watch(url, page_rules=PageRules(handler="sparql"))
            await archiver.crawl()
            broken = False
            endpoint.queries.clear()
            await archiver.crawl(after_s=hours * 3600.0)
            first, second = await archiver.visits(url)
            assert first.failure is not None
            assert "row 2" in first.failure.detail
            assert (first.failure.kind, second.outcome) == ("server-error", "new")
            assert any(query.endswith("OFFSET 0") for query in endpoint.queries) is not goes_on
            assert second.position is not None
            reader = archiver.node.reader()
            assert len(reader.read(second.position).body.splitlines()) == 3
            reader.close()

        run_scenario(scenario, *beside(site))
