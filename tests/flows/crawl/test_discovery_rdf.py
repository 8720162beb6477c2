"""Resources that RDF names by rdfs:seeAlso and owl:sameAs become pages: on request, and within scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import Reply, reply
from webstrata.records import PageRules, Site

THING = "http://a.test/things/one"
NEAR, ELSEWHERE_HERE, FOREIGN = "http://a.test/things/two", "http://a.test/other", "http://b.test/one"
TURTLE = f"""
<{THING}#it> <http://www.w3.org/2002/07/owl#sameAs> <{NEAR}#it>, <{FOREIGN}>, <{THING}>, <mailto:x@a.test> ;
  <http://www.w3.org/2000/01/rdf-schema#seeAlso> <{ELSEWHERE_HERE}> ; <http://e.test/p> <http://a.test/things/no> .
"""
JSON_LD = f"""
[{{"@id": "{THING}#it", "http://www.w3.org/2002/07/owl#sameAs": [{{"@id": "{NEAR}#it"}}, {{"@id": "{FOREIGN}"}}],
   "http://www.w3.org/2000/01/rdf-schema#seeAlso": {{"@id": "{ELSEWHERE_HERE}"}}}}]
"""
RDFA = f"""
<p about="{THING}#it"><a rel=owl:sameAs href="{NEAR}#it">x</a><a rel=owl:sameAs href="{FOREIGN}">x</a>
<a rel=rdfs:seeAlso href="{ELSEWHERE_HERE}">x</a></p>
"""
FORMS = {
    "Turtle": reply(TURTLE, kind="text/turtle"),
    "JSON-LD": reply(JSON_LD, kind="application/ld+json"),
    "RDFa": reply(RDFA),
}


async def after(archiver: Archiver, answer: Reply, page_rules: PageRules, **watching: object) -> set[str]:
    """The pages that are watched after two rounds, without the first one."""
    archiver.servers.serve(THING, answer)
    for url in (NEAR, ELSEWHERE_HERE, FOREIGN):
        archiver.servers.serve(url, reply("<p>x"))
    await archiver.watch(THING, page_rules=page_rules, **watching)
    for _ in range(2):
        await archiver.crawl()
    return set(await archiver.pages()) - {THING}


@pytest.mark.parametrize("form", FORMS)
def test_only_on_the_page_s_host(run_scenario: Callable[..., None], form: str) -> None:
    """For a page without a site, resources on its own host become pages, in every format."""

    async def scenario(archiver: Archiver) -> None:
        found = await after(archiver, FORMS[form], PageRules(handler="rdf", entries=True))
        assert found == {NEAR, ELSEWHERE_HERE}
        assert archiver.servers.requests("b.test") == []

    run_scenario(scenario)


def test_only_on_request(run_scenario: Callable[..., None]) -> None:
    """Without --entries no resource becomes a page."""

    async def scenario(archiver: Archiver) -> None:
        assert await after(archiver, FORMS["Turtle"], PageRules(handler="rdf")) == set()

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("prefix", {NEAR}), ("host", {NEAR, ELSEWHERE_HERE}), ("domain", {NEAR, ELSEWHERE_HERE})],
)
def test_within_the_site(run_scenario: Callable[..., None], scope: str, expected: set[str]) -> None:
    """For a page of a site, the scope of the site decides."""

    async def scenario(archiver: Archiver) -> None:
        async with archiver.node.store() as store:
            kept = Site(id=0, url="http://a.test/things/", scope=scope)  # type: ignore[arg-type]
            site = await store.pages.add_site(kept, archiver.node.clock.now())
        page_rules = PageRules(handler="rdf", entries=True)
        assert await after(archiver, FORMS["Turtle"], page_rules, site_id=site.id, depth=5) == expected

    run_scenario(scenario)
