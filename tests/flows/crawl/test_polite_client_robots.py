"""The conformance family robots-http, played for real: each situation is a server in the town, visited by the loop."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import Reply, moved, reply, robots

CASES = json.loads((Path(__file__).parents[2] / "data/conformance/robots-http/cases.json").read_text())
RULES = "User-agent: *\nDisallow: /x\n"
X, Y = "http://a.test/x", "http://a.test/y"

Setup = dict[str, Any]


def _body(setup: Setup) -> bytes:
    if "size" in setup:
        rule = b"\nDisallow: /x"
        return b"User-agent: *\n".ljust(setup["size"] - len(rule), b"#") + rule
    if "encoding" in setup:
        return RULES.encode(setup["encoding"])
    return str(setup.get("body", RULES)).encode()


def _answer(setup: Setup) -> Reply:
    headers = {name.replace("-", "_"): value for name, value in setup.get("headers", {}).items()}
    return reply(_body(setup), setup.get("status", 200), kind="text/plain", **headers)


async def _set_up(life: Life, setup: Setup) -> None:
    """Give a.test the robots.txt of the situation, and two pages."""
    for url in (X, Y):
        life.town.play(url, reply(f"<p>{url}</p>"))
    redirects = setup.get("redirects", 0)
    if redirects == "loop":
        life.town.play("http://a.test/robots.txt", moved("/r1"))
        life.town.play("http://a.test/r1", moved("/robots.txt"))
    else:
        stops = ["/robots.txt", *[f"/r{n}" for n in range(1, redirects + 1)]]
        for stop, following in pairwise(stops):
            life.town.play(f"http://a.test{stop}", moved(following))
        life.town.play(f"http://a.test{stops[-1]}", _answer(setup))
    if setup.get("fault") == "refused":
        await life.town.close()


def _visited(life: Life, *paths: str) -> set[str]:
    return {path for path in life.town.paths() if path in (paths or ("/x", "/y"))}


async def _parse(life: Life, setup: Setup) -> None:
    await life.watch(X, Y)
    await life.crawl()
    assert _visited(life) == {"/y"}


async def _allow_all(life: Life, setup: Setup) -> None:
    await life.watch(X, Y)
    if "age_days" in setup:
        await life.run((setup["age_days"] - 2) * DAY_S)
        assert _visited(life) == set()
        await life.run(4 * DAY_S)
    else:
        await life.crawl()
    assert _visited(life) == {"/x", "/y"}


async def _disallow_all(life: Life, setup: Setup) -> None:
    await life.watch(X, Y)
    await life.run(3600)
    assert _visited(life) == set()
    assert set(await life.outcomes(X)) <= {"robots", "dns", "blocked", "tls", "refused"}
    assert await life.outcomes(X)


async def _defer(life: Life, setup: Setup) -> None:
    await life.watch(X, Y)
    await life.crawl()
    assert _visited(life) == set()
    life.town.play("http://a.test/robots.txt", robots(""))
    await life.run(DAY_S)
    first = min(asked.at for asked in life.town.asked if asked.path in ("/x", "/y"))
    assert first - life.town.asked[0].at >= float(setup["headers"]["Retry-After"])


async def _cache(life: Life, setup: Setup) -> None:
    await life.watch(Y)
    await life.crawl()
    if setup.get("fault"):
        await life.town.close()
    await life.watch(X, "http://a.test/z")
    await life.crawl(after_s=setup["cache_age_h"] * 3600)
    assert _visited(life) == {"/y"}
    fetched = life.town.paths().count("/robots.txt")
    assert fetched == (2 if setup["cache_age_h"] > 24 and not setup.get("fault") else 1)
    assert await life.outcomes(X) == ["robots"]


async def _per_authority(life: Life, setup: Setup) -> None:
    """The same name on another port (and scheme) has a robots.txt of its own."""
    await life.watch(Y)
    await life.crawl()
    await life.watch("http://a.test:8080/x", "https://a.test/x")
    await life.crawl()
    asked = [(asked.host, asked.path) for asked in life.town.asked]
    assert ("a.test:8080", "/robots.txt") in asked
    assert ("a.test:8080", "/x") in asked  # its own robots.txt is 404
    assert await life.outcomes("https://a.test/x") == ["robots"]  # the server there speaks no TLS: not reached


async def _delay_7(life: Life, setup: Setup) -> None:
    await life.watch(X, Y)
    await life.crawl()
    times = life.town.times("a.test")
    assert [after - before for before, after in pairwise(times)] == pytest.approx([7, 7])


async def _delay_clamped(life: Life, setup: Setup) -> None:
    for text, gap in (("1e9", 300.0), ("-5", 2.0), ("NaN", 2.0)):
        life.town.asked.clear()
        life.town.play("http://a.test/robots.txt", robots(f"User-agent: *\nCrawl-delay: {text}\n"))
        await life.watch(f"http://a.test/{text}a", f"http://a.test/{text}b")
        await life.crawl(after_s=2 * DAY_S)
        times = life.town.times("a.test")[-2:]
        assert times[1] - times[0] == pytest.approx(gap)


async def _sitemaps_2(life: Life, setup: Setup) -> None:
    text = setup["body"].replace("a.com", "a.test").replace("b.com", "b.test")
    life.town.play("http://a.test/robots.txt", robots(text))
    await life.watch_site("http://a.test/")
    await life.crawl()
    assert {"/s.xml"} <= _visited(life, "/s.xml")
    assert {"/t.xml"} <= _visited(life, "/t.xml")


PLAYS: dict[str, Callable[[Life, Setup], Awaitable[None]]] = {
    "parse": _parse,
    "no_crash": _parse,
    "allow_all": _allow_all,
    "allow_all_or_disallow_all_documented": _allow_all,
    "allow_all_or_cached": _allow_all,
    "disallow_all": _disallow_all,
    "defer": _defer,
    "use_cache": _cache,
    "refetch": _cache,
    "use_cache_or_disallow": _cache,
    "per_authority": _per_authority,
    "delay_7": _delay_7,
    "delay_clamped": _delay_clamped,
    "sitemaps_2": _sitemaps_2,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['situation']}")
def test_situation(live: Callable[..., None], case: dict[str, Any]) -> None:
    """The situation, served by a real server, leads the real loop to what the standard asks for."""
    setup: Setup = case["setup"]
    fault = setup.get("fault")
    if fault == "tls":
        setup, fault = {}, "tls"

    async def scenario(life: Life) -> None:
        if case["setup"].get("cache_age_h"):
            await _set_up(life, {})
        else:
            # A 503 also asks for a rest of the host, renewed with each answer; the 30 days are robots.txt's own matter.
            await _set_up(life, setup | {"status": 500} if "age_days" in setup else setup)
        await PLAYS[case["outcome"]](life, case["setup"])

    async def without_tls(life: Life) -> None:
        """The host answers https with plain text: nothing is asked for in the clear instead."""
        url = "https://a.test/y"
        await life.watch(url)
        await life.run(3600)
        assert life.town.asked == []
        assert await life.outcomes(url)
        assert set(await life.outcomes(url)) == {"robots"}

    async def without_name(life: Life) -> None:
        url = "http://no-such-name.invalid/y"
        await life.watch(url)
        await life.run(3600)
        assert await life.outcomes(url)
        assert set(await life.outcomes(url)) == {"dns"}

    live({"tls": without_tls, "nxdomain": without_name}.get(fault or "", scenario))
