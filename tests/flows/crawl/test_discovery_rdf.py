"""What RDF names by rdfs:seeAlso and owl:sameAs becomes pages: on request, and within scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import Life
from tests.flows.town import Reply, reply
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


async def after(life: Life, answer: Reply, page_rules: PageRules, **watching: object) -> set[str]:
    """The pages that are watched after two rounds, but for the one that began."""
    life.town.play(THING, answer)
    for url in (NEAR, ELSEWHERE_HERE, FOREIGN):
        life.town.play(url, reply("<p>x"))
    await life.watch(THING, page_rules=page_rules, **watching)
    for _ in range(2):
        await life.crawl()
    return set(await life.pages()) - {THING}


@pytest.mark.parametrize("form", FORMS)
def test_only_on_the_page_s_host(live: Callable[..., None], form: str) -> None:
    """Of a page that is watched alone, what it names on its own host becomes pages, in whatever form it names them."""

    async def scenario(life: Life) -> None:
        found = await after(life, FORMS[form], PageRules(handler="rdf", entries=True))
        assert found == {NEAR, ELSEWHERE_HERE}
        assert life.town.requests("b.test") == []

    live(scenario)


def test_only_on_request(live: Callable[..., None]) -> None:
    """Without --entries nothing that RDF names is watched."""

    async def scenario(life: Life) -> None:
        assert await after(life, FORMS["Turtle"], PageRules(handler="rdf")) == set()

    live(scenario)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("prefix", {NEAR}), ("host", {NEAR, ELSEWHERE_HERE}), ("domain", {NEAR, ELSEWHERE_HERE})],
)
def test_within_the_site(live: Callable[..., None], scope: str, expected: set[str]) -> None:
    """Of a page of a watched site, the site's own scope decides."""

    async def scenario(life: Life) -> None:
        async with life.node.store() as store:
            kept = Site(id=0, url="http://a.test/things/", scope=scope)  # type: ignore[arg-type]
            site = await store.pages.add_site(kept, life.node.clock.now())
        page_rules = PageRules(handler="rdf", entries=True)
        assert await after(life, FORMS["Turtle"], page_rules, site_id=site.id, depth=5) == expected

    live(scenario)
