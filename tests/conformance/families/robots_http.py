"""Situations around the fetching of robots.txt, played through the pure step and the gate (no sockets)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.case import Case, UnplayableError, play_rows
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
_FAULTS = {
    "refused": FailureKind.REFUSED,
    "nxdomain": FailureKind.DNS,
    "dns": FailureKind.DNS,
    "tls": FailureKind.TLS,
    "reset": FailureKind.RESET,
    "timeout": FailureKind.TIMEOUT_TOTAL,
}
_SETUP = (
    "status",
    "headers",
    "body",
    "redirects",
    "fault",
    "age_days",
    "cache_age_h",
    "size",
    "encoding",
)
_MAX_SIZE = 64 * 1024 * 1024

Setup = dict[str, Any]


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", _play, verdict)
    if (folder / "robots_url.json").exists():
        play_rows(folder / "robots_url.json", _play_url, verdict)
    return verdict


def _play(case: Case, verdict: Verdict) -> None:
    setup, outcome = _setup(case.part("setup")), case.text("outcome")
    accepted = outcome.removesuffix("_documented").split("_or_")
    name = f"{case.id} {case.fields.get('situation', '')}"
    verdict.check(name, True, _play_of(outcome)(setup, accepted))


def _play_url(case: Case, verdict: Verdict) -> None:
    verdict.check(case.text("url"), case.text_or_none("robots_url"), _robots_url(case.text("url")))


def _play_of(outcome: str) -> Callable[[Setup, list[str]], bool]:
    """What has to be observed. Raises `UnplayableError` for an outcome that the runner does not know."""
    numbered = _NUMBERED.fullmatch(outcome)
    if numbered:
        return partial(_NUMBERED_PLAYS[numbered[1]], int(numbered[2]))
    if outcome not in _PLAYS:
        raise UnplayableError(f"the runner does not know {outcome!r} as 'outcome'")
    return _PLAYS[outcome]


def _setup(setup: Case) -> Setup:
    """A situation with known fields of the right types. Raises `UnplayableError`."""
    setup.only(_SETUP)
    for key in ("status", "age_days", "cache_age_h", "size"):
        if setup.has(key) and not 0 <= setup.number(key) <= _MAX_SIZE:
            raise UnplayableError(f"{key!r} is out of range")
    if setup.has("redirects") and setup.fields["redirects"] != "loop":
        setup.number("redirects")
    if setup.has("fault"):
        setup.choice("fault", _FAULTS)
    for name, value in setup.part("headers").fields.items():
        if not isinstance(value, str):
            raise UnplayableError(f"the header {name!r} is not text")
    if setup.has("body"):
        setup.body("body")
    if setup.has("encoding"):
        try:
            _FILE.decode().encode(setup.text("encoding"))
        except (LookupError, ValueError):
            raise UnplayableError(f"there is no encoding {setup.text('encoding')!r}") from None
    return setup.fields


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
        gate.learn_robots(_HOME, RobotsState(origin=_HOME, at=now - 1, status=_answer(setup).status))
    return isinstance(_visit(gate, "/x", now), Permit)


def _disallow_all(setup: Setup, _: list[str]) -> bool:
    answer = _visit(_gate(setup), "/y")
    return isinstance(answer, Refusal) and answer.until is not None


def _defer(setup: Setup, _: list[str]) -> bool:
    answer = _visit(_gate(setup), "/y")
    return isinstance(answer, Wait) and answer.until > _NOW


def _cache(setup: Setup, accepted: list[str]) -> bool:
    if "cache_age_h" not in setup:
        raise UnplayableError("'cache_age_h' is missing")
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


def _delay(seconds: int, setup: Setup, _: list[str]) -> bool:
    gate = _gate(setup)
    first_at = gate.free_at(host_of(_HOME), _NOW)
    first = _visit(gate, "/a", first_at)
    return isinstance(first, Permit) and gate.free_at(host_of(_HOME), first_at) == first_at + seconds


def _delay_clamped(setup: Setup, _: list[str]) -> bool:
    rules = PolitenessRules(agent="webstrata/1", token="webstrata")
    for text, expected in (("1e9", rules.max_delay_s), ("-5", rules.delay_s), ("NaN", rules.delay_s)):
        gate = _gate({"body": f"User-agent: *\nCrawl-delay: {text}\n"})
        if gate.gap_s(f"{_HOME}/a") != expected:
            return False
    return rules.delay_s <= _gate(setup).gap_s(f"{_HOME}/a") <= rules.max_delay_s


def _sitemaps(number: int, setup: Setup, _: list[str]) -> bool:
    body = _body(setup)
    written = tuple(line.decode() for line in _SITEMAP_LINE.findall(body))
    return len(written) == number and Robots.parse(body).sitemaps == written


_SITEMAP_LINE = re.compile(rb"(?im)^sitemap:[ \t]*(\S+)")
_NUMBERED = re.compile(r"(delay|sitemaps)_(\d{1,6})")
_NUMBERED_PLAYS: dict[str, Callable[[int, Setup, list[str]], bool]] = {"delay": _delay, "sitemaps": _sitemaps}
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
    "delay_clamped": _delay_clamped,
}
