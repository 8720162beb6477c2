"""Random histories with random edits of the rules, through the real loop: verdicts are those of the present rules."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.page_histories import Content, histories, rules
from tests.flows.scripted_servers import reply
from tests.flows.test_version_content import AGREEING, check_is_shown
from webstrata.detect.verdict import judge_alone
from webstrata.flows.version_content import version_difference
from webstrata.flows.versions import is_version, read_version
from webstrata.observe.page import observation_of, observe
from webstrata.records import PageRules

HOSTS = {f"h{number}.test": f"127.0.0.{10 + number}" for number in range(4)}
"""One page on each: two pages of a host would have a common template, which may say that nothing counts."""
VISITS = 4


class WatchedHistory(NamedTuple):
    """The contents of a page at each visit, and its rules at each."""

    contents: list[Content]
    rules: list[PageRules | None]


@st.composite
def edited_histories(draw: st.DrawFn) -> WatchedHistory:
    """At half of the visits the rules are those of the visit before."""
    held: list[PageRules | None] = [draw(st.none() | rules())]
    for _ in range(VISITS - 1):
        held.append(held[-1] if draw(st.booleans()) else draw(st.none() | rules()))
    return WatchedHistory(draw(histories(VISITS)), held)


async def check_last_visit(archiver: Archiver, url: str, number: int, page_rules: PageRules | None) -> None:
    """The verdict is that on both contents under the present rules, and a change has something to show."""
    visits = await archiver.visits(url)
    assert len(visits) == number
    versions = [visit for visit in visits if is_version(visit)]
    if len(versions) < 2 or versions[-1] is not visits[-1]:
        return  # the first version, or an error page
    reader = archiver.node.reader()
    before, after = (read_version(reader.read, visit, 10**8) for visit in versions[-2:])
    reader.close()
    old, new = (
        observation_of(observe(one.body, one.header("content-type"), url, page_rules), url, one.visit.at)
        for one in (before, after)
    )
    expected = judge_alone(old, new, page_rules)
    found = (versions[-1].counts, versions[-1].kind)
    assert found == (expected.counts, expected.kind), (before.body, after.body, page_rules, versions[-1].reasons)
    if expected.counts and expected.kind in AGREEING:
        shown = version_difference(before, after, page_rules, raw=False, before_name="before", after_name="after")
        check_is_shown(shown, (before.body, after.body, page_rules))


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pages=st.lists(edited_histories(), min_size=len(HOSTS), max_size=len(HOSTS)))
def test_edits_between_visits(run_scenario: Callable[..., None], tmp_path: Path, pages: list[WatchedHistory]) -> None:
    """Each visit is judged as if its rules had always been set; what it counts as a change can be shown."""
    by_url = {f"http://{host}/page": history for host, history in zip(HOSTS, pages, strict=True)}

    async def scenario(archiver: Archiver) -> None:
        for url, history in by_url.items():
            archiver.servers.serve(url, *(reply(one.body, kind=one.kind) for one in history.contents))
            await archiver.watch(url)
        for number in range(VISITS):
            async with archiver.node.store() as store:
                for url, history in by_url.items():
                    if number == 0 or history.rules[number] != history.rules[number - 1]:
                        await store.pages.set_rules((await archiver.page(url)).id, history.rules[number])
            await archiver.crawl(after_s=30 * DAY_S)
            for url, history in by_url.items():
                await check_last_visit(archiver, url, number + 1, history.rules[number])

    shutil.rmtree(tmp_path / "home", ignore_errors=True)
    run_scenario(scenario, hosts=HOSTS)
