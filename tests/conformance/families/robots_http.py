"""Situations around the fetching of robots.txt, played through the pure step and the gate (no sockets)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.errors import BadUrl
from webstrata.permit.gate import PermitGate
from webstrata.permit.robots import Robots
from webstrata.permit.robots_cache import RobotsResponse, robots_step, robots_url
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import Exchange, Failure, FailureKind, NeedRobots, Permit, Refusal, RobotsState, Wait
from webstrata.urls import canonical, host_of, origin

FAMILY = "robots-http"
_NOW = 1_700_000_000.0
_HOUR_S = 3600.0
_HOME = "http://example.org"
_FILE = b"User-agent: *\nDisallow: /x\n"
_FAULTS = {"refused": FailureKind.REFUSED, "nxdomain": FailureKind.DNS, "tls": FailureKind.TLS}

Setup = dict[str, Any]


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        play = _PLAYS[case["outcome"]]
        accepted = case["outcome"].removesuffix("_documented").split("_or_")
        verdict.check(f"{case['id']} {case['situation']}", True, play(case["setup"], accepted))
    addresses = folder / "robots_url.json"
    if addresses.exists():
        for row in json.loads(addresses.read_text()):
            verdict.check(row["url"], row["robots_url"], _robots_url(row["url"]))
    return verdict


def _robots_url(url: str) -> str | None:
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    try:  # credentials never get this far; the suite only wants them left out
        return robots_url(origin(canonical(f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}")))
    except BadUrl:
        return None


def _answer(setup: Setup) -> RobotsResponse:
    """Walk the redirects of a situation to its end."""
    url, hops = robots_url(_HOME), 0
    while True:
        step = robots_step(_exchange(url, hops, setup), url=url, hops=hops)
        if isinstance(step, RobotsResponse):
            return step
        url, hops = step, hops + 1


def _exchange(url: str, hops: int, setup: Setup) -> Exchange | Failure:
    if "fault" in setup:
        return Failure(kind=_FAULTS[setup["fault"]])
    redirects = setup.get("redirects", 0)
    status, headers = setup.get("status", 200), setup.get("headers", {})
    if redirects == "loop" or hops < redirects:
        status, headers = 301, {"Location": f"{_HOME}/r{(hops + 1) % 3}"}
    return Exchange(
        url=url,
        at=_NOW,
        duration_s=0.1,
        request_head=b"",
        status=status,
        headers=tuple((name.lower(), value) for name, value in headers.items()),
        body=_body(setup),
    )


def _body(setup: Setup) -> bytes:
    if "size" in setup:
        rule = b"\nDisallow: /x"
        return b"User-agent: *\n".ljust(setup["size"] - len(rule), b"#") + rule
    if "encoding" in setup:
        return _FILE.decode().encode(setup["encoding"])
    body: str = setup.get("body", _FILE.decode())
    return body.encode()


def _gate(setup: Setup, at: float = _NOW) -> PermitGate:
    gate = PermitGate(PolitenessRules(agent="webstrata/1", token="webstrata"))
    answer = _answer(setup)
    gate.learn_robots(_HOME, RobotsState(origin=_HOME, at=at, status=answer.status, body=answer.body))
    return gate


def _visit(gate: PermitGate, path: str, now: float = _NOW) -> Permit | Wait | Refusal | NeedRobots:
    return gate.request(f"{_HOME}{path}", "192.0.2.1", 80, now)


def _parse(setup: Setup, _: list[str]) -> bool:
    gate = _gate(setup)
    return isinstance(_visit(gate, "/x"), Refusal) and isinstance(_visit(gate, "/y"), Permit)


def _allow_all(setup: Setup, _: list[str]) -> bool:
    now = _NOW + setup.get("age_days", 0) * 24 * _HOUR_S
    gate = _gate(setup)
    if "age_days" in setup:  # still failing
        gate.learn_robots(_HOME, RobotsState(origin=_HOME, at=now - 1, status=setup["status"]))
    return isinstance(_visit(gate, "/x", now), Permit)


def _disallow_all(setup: Setup, _: list[str]) -> bool:
    answer = _visit(_gate(setup), "/y")
    return isinstance(answer, Refusal) and answer.until is not None


def _defer(setup: Setup, _: list[str]) -> bool:
    answer = _visit(_gate(setup), "/y")
    return isinstance(answer, Wait) and answer.until > _NOW


def _cache(setup: Setup, accepted: list[str]) -> bool:
    now = _NOW + setup["cache_age_h"] * _HOUR_S
    gate = _gate({})
    if "fault" in setup:  # the attempt to fetch it again failed
        gate.learn_robots(_HOME, RobotsState(origin=_HOME, at=now, status=_answer(setup).status))
    forbidden, free = _visit(gate, "/x", now), _visit(gate, "/y", now)
    if accepted == ["refetch"]:
        return isinstance(forbidden, NeedRobots)
    kept = isinstance(free, Permit)
    return isinstance(forbidden, Refusal) and (kept or "disallow" in accepted)


def _no_crash(setup: Setup, _: list[str]) -> bool:
    return isinstance(_answer(setup), RobotsResponse) and _parse(setup, _)


def _per_authority(_: Setup, __: list[str]) -> bool:
    gate = _gate({})
    others = ("http://example.org:8080/x", "https://example.org/x")
    return all(isinstance(gate.request(url, "192.0.2.1", 80, _NOW), NeedRobots) for url in others)


def _delay_7(setup: Setup, _: list[str]) -> bool:
    gate = _gate(setup)
    first_at = gate.free_at(host_of(_HOME), _NOW)
    first = _visit(gate, "/a", first_at)
    return isinstance(first, Permit) and gate.free_at(host_of(_HOME), first_at) == first_at + 7


def _delay_clamped(_: Setup, __: list[str]) -> bool:
    rules = PolitenessRules(agent="webstrata/1", token="webstrata")
    for text, expected in (("1e9", rules.max_delay_s), ("-5", rules.delay_s), ("NaN", rules.delay_s)):
        gate = _gate({"body": f"User-agent: *\nCrawl-delay: {text}\n"})
        if gate.gap_s(f"{_HOME}/a") != expected:
            return False
    return True


def _sitemaps_2(setup: Setup, _: list[str]) -> bool:
    return Robots.parse(_body(setup)).sitemaps == ("http://a.com/s.xml", "http://b.com/t.xml")


_PLAYS: dict[str, Callable[[Setup, list[str]], bool]] = {
    "parse": _parse,
    "allow_all": _allow_all,
    "allow_all_or_disallow_all_documented": _allow_all,
    "allow_all_or_cached": _allow_all,
    "disallow_all": _disallow_all,
    "defer": _defer,
    "use_cache": _cache,
    "refetch": _cache,
    "use_cache_or_disallow": _cache,
    "no_crash": _no_crash,
    "per_authority": _per_authority,
    "delay_7": _delay_7,
    "delay_clamped": _delay_clamped,
    "sitemaps_2": _sitemaps_2,
}
