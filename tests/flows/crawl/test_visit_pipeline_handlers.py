"""Access handlers in the loop: negotiation, linked and embedded data, SPARQL endpoints, rendered pages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox
import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.fetch.endpoint import Endpoint, store_of
from tests.fetch.local_site import Answer, Site, pages, serving
from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, moved, reply
from webstrata.fetch.handlers.browser import find_chromium, missing_software
from webstrata.records import PageRules

THING, DOCUMENT = "http://a.test/thing", "http://a.test/thing-data"
RDF = PageRules(handler="rdf")
TURTLE = "<http://a.test/thing> <http://e.test/size> {} ."


def turtle(size: int) -> Reply:
    return reply(TURTLE.format(size), kind="text/turtle")


def negotiated(*sizes: int) -> Callable[[ReceivedRequest], Reply]:
    """RDF for requests that accept it, a web page for others."""
    left = list(sizes)

    def answer(request: ReceivedRequest) -> Reply:
        if "text/turtle" not in request.headers["accept"]:
            return reply("<p>for people")
        return turtle(left.pop(0) if len(left) > 1 else left[0])

    return answer


def html(*, head: str = "", **headers: Any) -> Reply:
    return reply(f"<title>Thing</title>{head}<p>a thing for people", **headers)


def embedded(size: int) -> Reply:
    block = f'{{"@id": "http://a.test/thing", "http://e.test/size": {size}}}'
    return html(head=f'<script type="application/ld+json">{block}</script>')


WAYS: dict[str, dict[str, list[Reply | Callable[[ReceivedRequest], Reply]]]] = {
    "negotiation": {THING: [negotiated(1, 1, 2)]},
    "see other": {THING: [moved(DOCUMENT, 303)], DOCUMENT: [turtle(1), turtle(1), turtle(2)]},
    "Link header": {
        THING: [html(Link='<thing-data>; rel="alternate"; type="text/turtle"')],
        DOCUMENT: [turtle(1), turtle(1), turtle(2)],
    },
    "link element": {
        THING: [html(head='<link rel="alternate" type="text/turtle" href="thing-data">')],
        DOCUMENT: [turtle(1), turtle(1), turtle(2)],
    },
    "embedded JSON-LD": {THING: [embedded(1), embedded(1), embedded(2)]},
}


@pytest.mark.parametrize("way", WAYS)
def test_rdf(run_scenario: Callable[..., None], way: str) -> None:
    """However the data is offered, it is found, compared as a graph, logged and archived."""

    async def scenario(archiver: Archiver) -> None:
        for url, script in WAYS[way].items():
            archiver.servers.serve(url, *script)
        await archiver.watch(THING, page_rules=RDF)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(THING)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("same", "none"),
            ("changed", "data"),
        ]
        mark = (await archiver.page(THING)).fingerprint
        assert mark is not None
        assert mark.data_kind == "graph"
        reader = archiver.node.reader()
        assert all(visit.position is not None and b"size" in reader.read(visit.position).body for visit in visits)
        reader.close()

    run_scenario(scenario)


def test_no_rdf_is_an_error(run_scenario: Callable[..., None]) -> None:
    """A web page where RDF was requested is a failure of its kind, and archived."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(THING, html())
        await archiver.watch(THING, page_rules=RDF)
        await archiver.crawl()
        assert await archiver.outcomes(THING) == ["unexpected-content"]
        assert len(archiver.records(THING)) == 1

    run_scenario(scenario)


@contextmanager
def endpoint(graph: str, *, shuffled: bool = True) -> Iterator[tuple[Endpoint, Site]]:
    """A real SPARQL endpoint; if `shuffled`, its rows have another order each time."""
    asked = Endpoint(store_of(graph), shuffled=shuffled)
    with serving(asked) as site:
        yield asked, site


def beside(site: Site) -> tuple[str, ...]:
    """Settings of a loop that may visit another server than the scripted ones."""
    return (f"fetch.allow_private=127.0.0.1/32:{site.port}",)


GRAPH = "@prefix : <http://e.test/> . :a :p 1, 2, 3 ; :q [ :r 4 ] . :b :p 5 ."
MORE = ox.Quad(ox.NamedNode("http://e.test/c"), ox.NamedNode("http://e.test/p"), ox.Literal("6"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "ASK { <http://e.test/c> ?p ?o }",
        "DESCRIBE ?s { ?s <http://e.test/p> ?o }",
    ],
)
def test_sparql_query(run_scenario: Callable[..., None], query: str) -> None:
    """A query in the URL is sent to the endpoint; another order of rows is no change, another result is one."""
    with endpoint(GRAPH) as (asked, site):

        async def scenario(archiver: Archiver) -> None:
            url = f"{site.url}/sparql?query={quote(query, safe='')}"
            await archiver.watch(url, page_rules=PageRules(handler="sparql"))
            await archiver.crawl()
            await archiver.crawl(after_s=2 * DAY_S)
            asked.store.add(MORE)
            await archiver.crawl(after_s=2 * DAY_S)
            assert await archiver.outcomes(url) == ["new", "same", "changed"]
            assert (await archiver.last(url)).kind == "data"
            assert asked.queries == [query] * 3

        run_scenario(scenario, *beside(site))


def test_sparql_everything(run_scenario: Callable[..., None]) -> None:
    """Without a query the whole dataset is the page's content, archived as one resource record with the requests."""
    with endpoint(GRAPH, shuffled=False) as (asked, site):

        async def scenario(archiver: Archiver) -> None:
            url = f"{site.url}/sparql"
            await archiver.watch(url, page_rules=PageRules(handler="sparql"))
            await archiver.crawl()
            await archiver.crawl(after_s=2 * DAY_S)
            asked.store.add(MORE)
            await archiver.crawl(after_s=2 * DAY_S)
            visits = await archiver.visits(url)
            assert [visit.outcome for visit in visits] == ["new", "same", "changed"], visits[0].failure
            assert visits[0].position is not None
            assert visits[0].position.kind == "resource"
            reader = archiver.node.reader()
            assert visits[2].position is not None
            assert b"http://e.test/c" in reader.read(visits[2].position).body
            reader.close()

        run_scenario(scenario, *beside(site))


def test_a_web_page_from_an_endpoint_is_an_error(run_scenario: Callable[..., None]) -> None:
    """An HTML error page with status 200 is no result, and the next good result is compared with the last one."""
    with endpoint(GRAPH) as (asked, site):

        async def scenario(archiver: Archiver) -> None:
            url = f"{site.url}/sparql?query={quote('SELECT * { ?s ?p ?o }')}"
            await archiver.watch(url)
            await archiver.crawl()
            asked.faults.append(lambda _: Answer(headers={"Content-Type": "text/html"}, body=b"<h1>Virtuoso error"))
            await archiver.crawl(after_s=2 * DAY_S)
            asked.faults.clear()
            await archiver.crawl(after_s=2 * DAY_S)
            assert await archiver.outcomes(url) == ["new", "unexpected-content", "same"]

        run_scenario(scenario, *beside(site))


MISSING = missing_software(find_chromium())


@pytest.mark.skipif(bool(MISSING), reason=f"rendering is not possible here: {MISSING}")
def test_rendered_page(run_scenario: Callable[..., None]) -> None:
    """Text written by a script is compared; the DOM and a screenshot are resource records that other tools accept."""
    script = "document.querySelector('p').textContent = 'written by a script, {}'"
    answers = {
        "index": Answer(headers={"Content-Type": "text/html"}, body=b"<title>App</title><p></p><script src=s></script>")
    }
    with serving(lambda request: pages(**answers)(request)) as site:

        async def scenario(archiver: Archiver) -> None:
            url = site.url + "/"
            await archiver.watch(url, page_rules=PageRules(handler="browser"))
            for word in ("once", "twice"):
                answers["s"] = Answer(headers={"Content-Type": "text/javascript"}, body=script.format(word).encode())
                await archiver.crawl(after_s=2 * DAY_S)
            made = [record for path in archiver.warcs() for record in resources(path)]
            assert await archiver.outcomes(url) == ["new", "changed"]
            assert [name.partition(f":{url}")[0] for name, _ in made].count("urn:dom") == 2
            assert any(b"written by a script, twice" in body for _, body in made)
            assert any(body.startswith(b"\x89PNG") for _, body in made)
            files.extend(archiver.warcs())

        files: list[Path] = []
        run_scenario(scenario, *beside(site))
    warcio = Path(__file__).parents[3] / ".peers" / "bin" / "warcio"
    subprocess.run([warcio, "check", *files], check=True, capture_output=True)


def resources(path: Path) -> list[tuple[str, bytes]]:
    with path.open("rb") as stream:
        return [
            (record.rec_headers["WARC-Target-URI"], record.raw_stream.read())
            for record in ArchiveIterator(stream)
            if record.rec_type == "resource"
        ]
