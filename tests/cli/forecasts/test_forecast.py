"""`webstrata forecast`: pages that are only known from copies, own visits, sites, layers, pictures."""

from __future__ import annotations

import asyncio
import math
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Call
from tests.cli.forecasts.conftest import FAST, ONCE, SLOW, STILL, add_to, copies_of, links
from webstrata.cli.session import open_node
from webstrata.clock import parse_instant
from webstrata.columns import LinkKind, pack
from webstrata.schedule.value import Value


def test_a_page_that_is_only_known_from_copies(archived: Path, call: Call) -> None:
    """It has a rate inside its interval, probabilities that grow with time, and the archive as its source."""
    found = call("--home", archived, "forecast", SLOW, "--json").json
    assert found["url"] == SLOW
    assert found["low"] <= found["rate_per_day"] <= found["high"] < math.inf
    assert 0 < found["p_now"] < found["p_change"] < 1
    assert found["sources"] == [{"source": "old.example", "observations": 10}]
    assert found["class"] is None
    assert (found["observations"], found["updates"]) == (9, 1)
    times = [parse_instant(one["by"]) for one in found["next_update"] if one["by"]]
    assert times == sorted(times)
    assert parse_instant(found["by"]) == pytest.approx(parse_instant(found["at"]) + 7 * 86_400)


def test_faster_pages_have_higher_rates(archived: Path, call: Call) -> None:
    """The rates and probabilities of the pages have the order of their changes."""
    rows = {row["url"]: row for row in call("--home", archived, "forecast", "--all", "--json").json["rows"]}
    assert rows[FAST]["rate_per_day"] > rows[SLOW]["rate_per_day"] > rows[STILL]["rate_per_day"]
    assert rows[FAST]["p_change"] > rows[SLOW]["p_change"] > rows[STILL]["p_change"]
    assert rows[STILL]["low"] == 0
    assert set(rows) == {FAST, SLOW, STILL, ONCE}


def test_a_page_without_knowledge_has_the_forecast_of_any_page(home: Path, call: Call) -> None:
    """A page that was never seen says so, and its forecast begins now."""
    add_to(home, [], watched=["https://example.org/new"])
    found = call("--home", home, "forecast", "https://example.org/new", "--json").json
    assert found["sources"] == [{"source": "any page", "observations": 0}]
    assert found["seen_at"] is None
    assert found["p_now"] == 0
    assert 0 < found["p_change"] < 0.5


def test_forecast_and_why_agree(seen: Path, call: Call) -> None:
    """A page with a state of the policy has the figures that `why` and `export forecasts` show."""
    url = call("--home", seen, "list", "--json").json["pages"][0]["url"]
    evidence = call("--home", seen, "why", url, "--json").json["evidence"]
    found = call("--home", seen, "forecast", url, "--json").json
    assert found["rate_per_day"] == pytest.approx(evidence["rate_per_day"], abs=2e-6)
    assert found["p_now"] == pytest.approx(evidence["changed_probability"], abs=2e-5)
    assert found["sources"] == [
        {"source": "own visits", "observations": 1},
        {"source": "first content", "observations": 1},
    ]
    assert found["class"] is not None


def test_layers_count_only_their_links(home: Path, call: Call) -> None:
    """A page whose content changes each week, and that gets a document once, has different rates by layer."""
    url = "https://example.org/list"
    first, more = links((1, LinkKind.INTERNAL)), links((1, LinkKind.INTERNAL), (2, LinkKind.DOCUMENT))
    now = time.time()
    days = [28.0, 21.0, 14.0, 7.0]
    contents = [first, first, more, more]
    add_to(
        home,
        [copy for day, letter, content in zip(days, "abcd", contents, strict=True)
         for copy in copies_of(url, now, [day], letter, links=content, text=letter)],
    )  # fmt: skip
    updates = {
        layer: call("--home", home, "forecast", url, "--update", layer, "--json").json["updates"]
        for layer in ("content", "links", "documents", "internal-links", "external-links")
    }
    assert updates == {"content": 3, "links": 1, "documents": 1, "internal-links": 0, "external-links": 0}


def test_a_site_changes_with_any_of_its_pages(archived: Path, call: Call) -> None:
    """The site of pages with copies of the same days has an update where one of its pages has one."""
    found = call("--home", archived, "forecast", SLOW, "--site", "--json").json
    assert (found["pages"], found["observations"], found["updates"]) == (4, 9, 9)
    assert found["sources"] == [{"source": "old.example", "observations": 31}]
    alone = call("--home", archived, "forecast", SLOW, "--site", "--depth", "0", "--json").json
    assert alone["pages"] == 0


def test_text_and_picture(archived: Path, call: Call, tmp_path: Path) -> None:
    """The report names rate, times and sources; the picture is written beside it."""
    picture = tmp_path / "forecast.svg"
    result = call("--home", archived, "forecast", SLOW, "--plot", picture, "--within", "30d")
    assert "old.example (10)" in result.text
    assert "1 update in 9 intervals" in result.text
    assert b"probability of an update" in picture.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give either a URL or --all"),
        (("--all", "--site"), "for a single URL"),
        ((SLOW, "--tag", "news"), "select pages of --all"),
        ((SLOW, "--within", "7d", "--at", "2100-01-01"), "Give one of them"),
        ((SLOW, "--at", "2000-01-01"), "in the past"),
        ((SLOW, "--plot", "a.gif"), "no supported picture format"),
        (("https://example.org/other",), "is not watched"),
    ],
)
def test_errors_of_use(archived: Path, call: Call, words: tuple[str, ...], message: str) -> None:
    """Wrong options end with exit code 2 and a sentence."""
    result = call("--home", archived, "forecast", *words)
    assert result.code == 2
    assert message in result.err


def test_estimate_uses_copies_unless_told_otherwise(archived: Path, call: Call) -> None:
    """Imported copies are observations of `estimate --store`; without them nothing was seen."""
    rows = {row["page"]: row for row in call("--home", archived, "estimate", "--store", "--json").json["pages"]}
    assert (rows[SLOW]["visits"], rows[SLOW]["changes"]) == (10, 1)
    assert rows[SLOW]["estimates"]["interpolated"]["has_interval"]
    assert rows[ONCE]["visits"] == 1
    result = call("--home", archived, "estimate", "--store", "--no-copies")
    assert result.code == 2
    assert "no active page was seen yet" in result.err


def test_copies_and_visits_are_both_sources(seen: Path, call: Call) -> None:
    """A page that is visited and has earlier copies names both, with their numbers."""
    url = call("--home", seen, "list", "--json").json["pages"][0]["url"]
    add_to(seen, copies_of(url, time.time(), [30.0, 20.0], "ab"))
    found = call("--home", seen, "forecast", url, "--json").json
    assert found["sources"] == [
        {"source": "old.example", "observations": 2},
        {"source": "own visits", "observations": 1},
        {"source": "first content", "observations": 1},
    ]
    assert (found["observations"], found["updates"]) == (1, 1)


def test_a_state_that_was_learned_from_copies_comes_first(archived: Path, call: Call) -> None:
    """A page that is not watched, with a state of the policy: its forecast is that of the state."""
    policy = Value()
    state = policy.start(1, time.time() / 86_400 - 10)
    policy.learn(state, np.zeros(1, dtype=np.intp), np.array([5.0]), np.array([True]))

    async def save() -> None:
        node = open_node(archived)
        async with node.store() as store:
            page = await store.pages.get(STILL)
            assert page is not None
            await store.copies.save_learned(policy.name, [(page.id, pack(state)[0])], [], time.time())

    asyncio.run(save())
    found = call("--home", archived, "forecast", STILL, "--json").json
    age = policy.age(state, np.zeros(1, dtype=np.intp), parse_instant(found["at"]) / 86_400)
    forecast = policy.forecast(state, np.zeros(1, dtype=np.intp), age)
    assert found["rate_per_day"] == pytest.approx(float(forecast.rate_at(age)[0]), rel=1e-4)
    assert found["p_now"] == pytest.approx(1 - float(forecast.unchanged_at(age)[0]), rel=1e-4)
    rows = {row["url"]: row["p"] for row in call("--home", archived, "select", "--top", "9", "--json").json["rows"]}
    assert rows[STILL] == pytest.approx(found["p_change"], abs=1e-4)
