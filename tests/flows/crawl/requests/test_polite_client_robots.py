"""The conformance cases robots-http, each with a real server that the loop visits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import Reply, moved, reply, robots

CASES = json.loads((Path(__file__).parents[3] / "data/conformance/robots-http/cases.json").read_text())
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


async def _set_up(archiver: Archiver, setup: Setup) -> None:
    """Serve the robots.txt of the case and two pages at a.test."""
    for url in (X, Y):
        archiver.servers.serve(url, reply(f"<p>{url}</p>"))
    redirects = setup.get("redirects", 0)
    if redirects == "loop":
        archiver.servers.serve("http://a.test/robots.txt", moved("/r1"))
        archiver.servers.serve("http://a.test/r1", moved("/robots.txt"))
    else:
        stops = ["/robots.txt", *[f"/r{n}" for n in range(1, redirects + 1)]]
        for stop, following in pairwise(stops):
            archiver.servers.serve(f"http://a.test{stop}", moved(following))
        archiver.servers.serve(f"http://a.test{stops[-1]}", _answer(setup))
    if setup.get("fault") == "refused":
        await archiver.servers.close()


def _visited(archiver: Archiver, *paths: str) -> set[str]:
    return {path for path in archiver.servers.paths() if path in (paths or ("/x", "/y"))}


async def _parse(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(X, Y)
    await archiver.crawl()
    assert _visited(archiver) == {"/y"}


async def _allow_all(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(X, Y)
    if "age_days" in setup:
        await archiver.run((setup["age_days"] - 2) * DAY_S)
        assert _visited(archiver) == set()
        await archiver.run(4 * DAY_S)
    else:
        await archiver.crawl()
    assert _visited(archiver) == {"/x", "/y"}


async def _disallow_all(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(X, Y)
    await archiver.run(3600)
    assert _visited(archiver) == set()
    assert set(await archiver.outcomes(X)) <= {"robots", "dns", "blocked", "tls", "refused"}
    assert await archiver.outcomes(X)


async def _defer(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(X, Y)
    await archiver.crawl()
    assert _visited(archiver) == set()
    archiver.servers.serve("http://a.test/robots.txt", robots(""))
    await archiver.run(DAY_S)
    first = min(request.at for request in archiver.servers.received if request.path in ("/x", "/y"))
    assert first - archiver.servers.received[0].at >= float(setup["headers"]["Retry-After"])


async def _cache(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(Y)
    await archiver.crawl()
    if setup.get("fault"):
        await archiver.servers.close()
    await archiver.watch(X, "http://a.test/z")
    await archiver.crawl(after_s=setup["cache_age_h"] * 3600)
    assert _visited(archiver) == {"/y"}
    fetched = archiver.servers.paths().count("/robots.txt")
    assert fetched == (2 if setup["cache_age_h"] > 24 and not setup.get("fault") else 1)
    assert await archiver.outcomes(X) == ["robots"]


async def _per_authority(archiver: Archiver, setup: Setup) -> None:
    """The same host name at another port (and scheme) has a robots.txt of its own."""
    await archiver.watch(Y)
    await archiver.crawl()
    await archiver.watch("http://a.test:8080/x", "https://a.test/x")
    await archiver.crawl()
    asked = [(request.host, request.path) for request in archiver.servers.received]
    assert ("a.test:8080", "/robots.txt") in asked
    assert ("a.test:8080", "/x") in asked  # its own robots.txt is 404
    assert await archiver.outcomes("https://a.test/x") == ["robots"]  # the server there speaks no TLS: not reached


async def _delay_7(archiver: Archiver, setup: Setup) -> None:
    await archiver.watch(X, Y)
    await archiver.crawl()
    times = archiver.servers.times("a.test")
    assert [after - before for before, after in pairwise(times)] == pytest.approx([7, 7])


async def _delay_clamped(archiver: Archiver, setup: Setup) -> None:
    for text, gap in (("1e9", 300.0), ("-5", 2.0), ("NaN", 2.0)):
        archiver.servers.received.clear()
        archiver.servers.serve("http://a.test/robots.txt", robots(f"User-agent: *\nCrawl-delay: {text}\n"))
        await archiver.watch(f"http://a.test/{text}a", f"http://a.test/{text}b")
        await archiver.crawl(after_s=2 * DAY_S)
        times = archiver.servers.times("a.test")[-2:]
        assert times[1] - times[0] == pytest.approx(gap)


async def _sitemaps_2(archiver: Archiver, setup: Setup) -> None:
    text = setup["body"].replace("a.com", "a.test").replace("b.com", "b.test")
    archiver.servers.serve("http://a.test/robots.txt", robots(text))
    await archiver.watch_site("http://a.test/")
    await archiver.crawl()
    assert {"/s.xml"} <= _visited(archiver, "/s.xml")
    assert {"/t.xml"} <= _visited(archiver, "/t.xml")


PLAYS: dict[str, Callable[[Archiver, Setup], Awaitable[None]]] = {
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
def test_situation(run_scenario: Callable[..., None], case: dict[str, Any]) -> None:
    """The loop does what the standard requires in this case."""
    setup: Setup = case["setup"]
    fault = setup.get("fault")
    if fault == "tls":
        setup, fault = {}, "tls"

    async def scenario(archiver: Archiver) -> None:
        if case["setup"].get("cache_age_h"):
            await _set_up(archiver, {})
        else:
            # A 503 also asks for a rest of the host, renewed with each answer; the 30 days are robots.txt's own matter.
            await _set_up(archiver, setup | {"status": 500} if "age_days" in setup else setup)
        await PLAYS[case["outcome"]](archiver, case["setup"])

    async def without_tls(archiver: Archiver) -> None:
        """The host answers https with plain text: nothing is asked for in the clear instead."""
        url = "https://a.test/y"
        await archiver.watch(url)
        await archiver.run(3600)
        assert archiver.servers.received == []
        assert await archiver.outcomes(url)
        assert set(await archiver.outcomes(url)) == {"robots"}

    async def without_name(archiver: Archiver) -> None:
        url = "http://no-such-name.invalid/y"
        await archiver.watch(url)
        await archiver.run(3600)
        assert await archiver.outcomes(url)
        assert set(await archiver.outcomes(url)) == {"dns"}

    played = {"tls": without_tls, "nxdomain": without_name}.get(fault or "", scenario)
    run_scenario(played, *(("budget.total=1/page/day",) if "age_days" in setup else ()))
