"""Versions of data: another order is no change; a changed triple, cell or value is a change of data and is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.detect.diff.difference import Difference
from webstrata.flows.version_content import version_difference
from webstrata.flows.versions import read_version
from webstrata.records import PageRules

PAGE = "http://a.test/page"


class Case(NamedTuple):
    kind: str
    first: str
    reordered: str
    changed: str
    page_rules: PageRules | None = None


PREFIX = "@prefix : <http://e.test/> .\n"
CASES = {
    "turtle": Case(
        "text/turtle",
        PREFIX + ":a :p 1 ; :q [ :r 2 ] .\n:b :p 3 .",
        PREFIX + "# other order and labels\n:b :p 3 .\n_:x :r 2 .\n:a :q _:x ; :p 1 .",
        PREFIX + ":a :p 1 ; :q [ :r 2 ] .\n:b :p 4 .",
    ),
    "json": Case(
        "application/json",
        '{"a": 1, "b": {"c": [1, 2]}}',
        '{\n "b": {"c": [1, 2.0]},\n "a": 1 }',
        '{"a": 1, "b": {"c": [1, 3]}}',
    ),
    "csv": Case(
        "text/csv",
        "id,rate\r\n1,4.2\r\n2,5.5\r\n",
        "id,rate\n2,5.5\n1,4.2\n",
        "id,rate\n2,5.6\n1,4.2\n",
        PageRules(unordered=True),
    ),
}


async def shown(archiver: Archiver, url: str = PAGE) -> Difference:
    """The difference of a page's last two versions."""
    reader = archiver.node.reader()
    visits = [visit for visit in await archiver.visits(url) if visit.raw is not None]
    before, after = (read_version(reader.read, visit, 10**8) for visit in visits[-2:])
    reader.close()
    page_rules = (await archiver.page(url)).page_rules
    return version_difference(before, after, page_rules, raw=False, before_name="before", after_name="after")


@pytest.mark.parametrize("name", CASES)
def test_only_data_counts(run_scenario: Callable[..., None], name: str) -> None:
    """The same data in another form is `same` and archived; other data is `changed`, of the kind data."""
    case = CASES[name]

    async def scenario(archiver: Archiver) -> None:
        bodies = (case.first, case.reordered, case.changed)
        archiver.servers.serve(PAGE, *(reply(body, kind=case.kind) for body in bodies))
        await archiver.watch(PAGE, page_rules=case.page_rules)
        for _ in bodies:
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(PAGE)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("same", "markup"),
            ("changed", "data"),
        ]
        assert visits[2].significance > 0
        assert len({record.body for record in archiver.records(PAGE)}) == 3
        found = await shown(archiver)
        if name == "turtle":
            assert found.triples is not None
            assert [len(found.triples.added), len(found.triples.removed)] == [1, 1]
            assert "http://e.test/b" in found.triples.added[0]
        elif name == "json":
            assert found.json is not None
            assert [(edit.path, edit.before, edit.after) for edit in found.json] == [("$.b.c[1]", 2.0, 3)]
        else:
            assert found.table is not None
            assert [(cell.column, cell.before, cell.after) for cell in found.table.cells] == [("rate", "5.5", "5.6")]

    run_scenario(scenario)


def test_ignored_parts_are_not_shown(run_scenario: Callable[..., None]) -> None:
    """A difference shows only the parts that the page's rules leave."""

    async def scenario(archiver: Archiver) -> None:
        page = "<title>t</title><main><p class=ad>Buy {}</p><p>The rate is {}.</p></main>"
        archiver.servers.serve(PAGE, reply(page.format("soap", 1)), reply(page.format("soup", 2)))
        await archiver.watch(PAGE, page_rules=PageRules(ignore=("css:.ad",)))
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        found = await shown(archiver)
        assert "+The rate is 2." in found.unified
        assert "Buy" not in found.unified

    run_scenario(scenario)


def test_poison_graphs(run_scenario: Callable[..., None]) -> None:
    """A graph that cannot be canonicalised within the limit is compared by its bytes."""
    torus = "".join(
        f"_:n{a}x{b} <http://e.test/p> _:n{(a + x) % 40}x{(b + y) % 40} .\n"
        for a in range(40)
        for b in range(40)
        for x, y in ((0, 1), (1, 0))
    )

    async def scenario(archiver: Archiver) -> None:
        kind = "application/n-triples"
        archiver.servers.serve(
            PAGE, reply(torus, kind=kind), reply(torus, kind=kind), reply(torus + "# end\n", kind=kind)
        )
        archiver.servers.serve("http://b.test/good", reply("<p>a page beside it"))
        await archiver.watch(PAGE, "http://b.test/good")
        begun = time.monotonic()
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert time.monotonic() - begun < 100
        assert await archiver.outcomes(PAGE) == ["new", "same", "changed"]
        assert await archiver.outcomes("http://b.test/good") == ["new", "same", "same"]

    run_scenario(scenario)
