"""Data through the real loop: order is nothing, a changed triple, cell or value is a change of data and is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import reply
from webstrata.detect.diff.difference import Difference
from webstrata.flows.versions import read_version, version_difference
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


async def shown(life: Life, url: str = PAGE) -> Difference:
    """The difference between a page's last two versions."""
    reader = life.node.reader()
    visits = [visit for visit in await life.visits(url) if visit.raw is not None]
    before, after = (read_version(reader.read, visit, 10**8) for visit in visits[-2:])
    reader.close()
    page_rules = (await life.page(url)).page_rules
    return version_difference(before, after, page_rules, raw=False, before_name="before", after_name="after")


@pytest.mark.parametrize("name", CASES)
def test_only_data_counts(live: Callable[..., None], name: str) -> None:
    """The same data written otherwise is `same`, with its bytes archived; other data is `changed`, of the kind data."""
    case = CASES[name]

    async def scenario(life: Life) -> None:
        bodies = (case.first, case.reordered, case.changed)
        life.town.play(PAGE, *(reply(body, kind=case.kind) for body in bodies))
        await life.watch(PAGE, page_rules=case.page_rules)
        for _ in bodies:
            await life.crawl(after_s=2 * DAY_S)
        visits = await life.visits(PAGE)
        assert [(visit.outcome, visit.kind) for visit in visits] == [
            ("new", "new"),
            ("same", "markup"),
            ("changed", "data"),
        ]
        assert visits[2].significance > 0
        assert len({record.body for record in life.records(PAGE)}) == 3
        found = await shown(life)
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

    live(scenario)


def test_what_is_ignored_is_not_shown(live: Callable[..., None]) -> None:
    """A difference shows only what the page's rules leave."""

    async def scenario(life: Life) -> None:
        page = "<title>t</title><main><p class=ad>Buy {}</p><p>The rate is {}.</p></main>"
        life.town.play(PAGE, reply(page.format("soap", 1)), reply(page.format("soup", 2)))
        await life.watch(PAGE, page_rules=PageRules(ignore=("css:.ad",)))
        for _ in range(2):
            await life.crawl(after_s=2 * DAY_S)
        found = await shown(life)
        assert "+The rate is 2." in found.unified
        assert "Buy" not in found.unified

    live(scenario)


def test_poison_graphs(live: Callable[..., None]) -> None:
    """A graph that cannot be canonicalised is read within a limit, and counts by its bytes."""
    torus = "".join(
        f"_:n{a}x{b} <http://e.test/p> _:n{(a + x) % 40}x{(b + y) % 40} .\n"
        for a in range(40)
        for b in range(40)
        for x, y in ((0, 1), (1, 0))
    )

    async def scenario(life: Life) -> None:
        kind = "application/n-triples"
        life.town.play(PAGE, reply(torus, kind=kind), reply(torus, kind=kind), reply(torus + "# end\n", kind=kind))
        life.town.play("http://b.test/good", reply("<p>a page beside it"))
        await life.watch(PAGE, "http://b.test/good")
        begun = time.monotonic()
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert time.monotonic() - begun < 100
        assert await life.outcomes(PAGE) == ["new", "same", "changed"]
        assert await life.outcomes("http://b.test/good") == ["new", "same", "same"]

    live(scenario, "crawl.workers=1")
