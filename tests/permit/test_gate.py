"""The gate grants permits by the rules of politeness."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from webstrata.permit.gate import PermitGate
from webstrata.permit.spacing import PolitenessRules
from webstrata.records import (
    AddressState,
    Exchange,
    FailureKind,
    HostState,
    NeedRobots,
    Permit,
    Refusal,
    RobotsState,
    Wait,
)

MakeGate = Callable[..., PermitGate]
Answer = Callable[..., Exchange]
PAGE = "http://example.org/page"
ADDRESS = "192.0.2.1"


def grant(gate: PermitGate, now: float, url: str = PAGE, address: str = ADDRESS) -> Permit:
    permit = gate.request(url, address, 80, now)
    assert isinstance(permit, Permit), permit
    return permit


def wait_s(gate: PermitGate, now: float, url: str = PAGE, address: str = ADDRESS) -> float:
    wait = gate.request(url, address, 80, now)
    assert isinstance(wait, Wait), wait
    return wait.until - now


def test_a_permit_contains_what_a_request_needs(make_gate: MakeGate, now: float) -> None:
    """A permit contains the address, port, origin, host and agent of the request."""
    permit = grant(make_gate(), now)

    assert (permit.url, permit.origin, permit.host) == (PAGE, "http://example.org", "example.org")
    assert (permit.address, permit.port, permit.granted_at) == (ADDRESS, 80, now)
    assert permit.agent.startswith("webstrata/1")
    assert not permit.for_robots


def test_delay_between_starts(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """The delay counts from the start of one request to the start of the next."""
    gate = make_gate(delay_s=2.0)
    permit = grant(gate, now)
    gate.finished(permit, answer(duration_s=0.5), now + 0.5)

    assert wait_s(gate, now + 0.5) == pytest.approx(1.5)
    grant(gate, now + 2.0)


def test_delay_after_a_late_start(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """The delay counts from the actual start of a request that waited for a free connection."""
    gate = make_gate(delay_s=2.0)
    permit = grant(gate, now)
    gate.finished(permit, replace(answer(duration_s=0.5), at=now + 30.0), now + 30.5)

    assert wait_s(gate, now + 30.5) == pytest.approx(1.5)


def test_constraints(make_gate: MakeGate, now: float) -> None:
    """The Crawl-delay of an unknown origin is None and its robots.txt is needed; that of a known origin is a number."""
    gate = make_gate(delay_s=2.0)

    assert gate.constraints("http://unknown.example/", now) == (None, True, now)
    assert gate.constraints(PAGE, now) == (0.0, False, now)
    assert gate.constraints(PAGE, now + 2 * 86_400)[1]
    grant(gate, now)
    assert gate.constraints(PAGE, now)[2] == now + 2.0


def test_pause_after_a_slow_response(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """After a response the host is left alone for a multiple of the response time."""
    gate = make_gate(delay_s=2.0, delay_factor=1.5)
    gate.finished(grant(gate, now), answer(duration_s=10.0), now + 10.0)

    assert wait_s(gate, now + 10.0) == pytest.approx(15.0)
    assert gate.gap_s(PAGE) == pytest.approx(25.0)


def test_crawl_delay_and_its_upper_bound(make_gate: MakeGate, now: float) -> None:
    """A Crawl-delay longer than the own delay applies up to the upper bound, and `explain` reports the bound."""
    asked = make_gate(b"User-agent: *\nCrawl-delay: 7")
    cut = make_gate(b"User-agent: *\nCrawl-delay: 86400", max_delay_s=300.0)
    grant(asked, now)
    grant(cut, now)

    assert asked.free_at("example.org", now) == now + 7
    assert cut.free_at("example.org", now) == now + 300
    assert cut.explain(PAGE, now)["crawl_delay_cut"] is True


def test_a_new_crawl_delay_applies_to_the_next_request(now: float) -> None:
    """The first page is requested no sooner after robots.txt than its Crawl-delay allows."""
    gate = PermitGate(PolitenessRules(agent="a", token="a"))
    body = b"User-agent: *\nCrawl-delay: 30"
    permit = gate.request_robots("http://example.org", ADDRESS, 80, now - 7)
    assert isinstance(permit, Permit)
    gate.sent(permit, now - 5)
    gate.learn_robots("http://example.org", RobotsState(origin="http://example.org", at=now, status=200, body=body))

    assert wait_s(gate, now) == 25.0


def test_one_request_to_a_host_at_a_time(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """While a request is open the next one waits, however long it takes."""
    gate = make_gate(delay_s=1.0)
    permit = grant(gate, now)

    assert wait_s(gate, now + 60) > 0
    gate.finished(permit, answer(duration_s=60.0), now + 60)
    grant(gate, now + 120)


def test_connections_per_host(make_gate: MakeGate, now: float) -> None:
    """With a limit of two, a third request waits."""
    gate = make_gate(delay_s=0.0, connections_per_host=2)
    grant(gate, now)
    grant(gate, now + 1)

    assert wait_s(gate, now + 2) > 0


def test_hosts_at_one_address_are_spaced(make_gate: MakeGate, now: float) -> None:
    """Two hosts at one address share its delay; hosts at different addresses do not."""
    gate = make_gate(address_delay_s=1.0)
    grant(gate, now, "http://one.example/")

    assert wait_s(gate, now, "http://two.example/") == 1.0
    grant(gate, now, "http://two.example/", "192.0.2.2")


def test_default_address_delay(make_gate: MakeGate, now: float) -> None:
    """The default address delay is half a second, or the own delay if that is shorter."""
    assert wait_s(_visited(make_gate(), now), now, "http://two.example/") == 0.5
    grant(_visited(make_gate(delay_s=0.0), now), now, "http://two.example/")


def _visited(gate: PermitGate, now: float) -> PermitGate:
    grant(gate, now, "http://one.example/")
    return gate


REFUSALS = [
    (429, {"retry_after": "120"}, 120.0),
    (503, {"retry_after": "Tue, 14 Nov 2023 22:23:20 GMT"}, 600.0),
    (429, {"retry_after": "99999999999"}, 86_400.0),
    (429, {"retry_after": "0"}, 2.0),
]


@pytest.mark.parametrize(("status", "headers", "seconds"), REFUSALS)
def test_retry_after_is_obeyed(
    make_gate: MakeGate, answer: Answer, now: float, status: int, headers: dict[str, str], seconds: float
) -> None:
    """Seconds and dates count from the response, are bounded by a day, and never shorten the delay."""
    gate = make_gate()
    gate.finished(grant(gate, now), answer(status, 0.0, **headers), now)

    assert wait_s(gate, now) == pytest.approx(seconds)


def test_back_off_doubles_until_a_success(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """Each consecutive refusal without a valid Retry-After doubles the pause up to a day; a success resets it."""
    gate = make_gate(robots_max_age_s=1e9)
    rests = []
    for _ in range(14):
        gate.finished(grant(gate, now), answer(503, retry_after="soon"), now)
        rests.append(wait_s(gate, now))
        now = gate.free_at("example.org", now)
    gate.finished(grant(gate, now), answer(200), now)
    after_success = gate.free_at("example.org", now)
    gate.finished(grant(gate, after_success), answer(429), after_success)

    assert 60 <= rests[0] <= 75
    assert all(1.5 < later / sooner < 2.6 for sooner, later in pairwise(rests[:8]))
    assert rests[-1] == 86_400.0
    assert wait_s(gate, after_success) == pytest.approx(rests[0])


def test_repeated_short_retry_after(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """From the fourth consecutive refusal on the doubled pause applies if it is longer than Retry-After."""
    gate = make_gate()
    rests = []
    for _ in range(5):
        gate.finished(grant(gate, now), answer(503, 0.0, retry_after="1"), now)
        rests.append(wait_s(gate, now))
        now = gate.free_at("example.org", now)

    assert rests[:3] == [2.0, 2.0, 2.0]
    assert rests[3] >= 480


def test_failed_connections(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """The usual delay follows two refused connections; a pause follows the third consecutive one."""
    gate = make_gate()
    waits = []
    for _ in range(3):
        gate.finished(grant(gate, now), answer(failure=FailureKind.REFUSED, duration_s=0.0), now)
        waits.append(wait_s(gate, now))
        now = gate.free_at("example.org", now)

    assert waits[:2] == [2.0, 2.0]
    assert waits[2] >= 240


def test_other_failures_do_not_change_the_back_off(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """A malformed response neither starts a pause nor resets the count of refusals."""
    gate = make_gate()
    gate.finished(grant(gate, now), answer(503, 0.0), now)
    now = gate.free_at("example.org", now)
    gate.finished(grant(gate, now), answer(failure=FailureKind.MALFORMED, duration_s=0.0), now)

    assert wait_s(gate, now) == 2.0
    assert gate.explain(PAGE, now)["refusals_in_a_row"] == 1


def test_robots_must_be_known_and_fresh(make_gate: MakeGate, now: float) -> None:
    """A robots.txt that is unknown, a day old or dated in the future is fetched before the page."""
    gate = make_gate()

    assert gate.request("https://example.org/", ADDRESS, 443, now) == NeedRobots(origin="https://example.org")
    grant(gate, now + 86_399)
    assert gate.request(PAGE, ADDRESS, 80, now + 86_400) == NeedRobots(origin="http://example.org")
    assert gate.request(PAGE, ADDRESS, 80, now - 10) == NeedRobots(origin="http://example.org")


def test_robots_refusal(make_gate: MakeGate, now: float) -> None:
    """A refusal names the line of robots.txt, lasts until the file is fetched again, and reserves no time slot."""
    gate = make_gate(b"User-agent: webstrata\nDisallow: /page")
    refusal = gate.request(PAGE, ADDRESS, 80, now)

    assert refusal == Refusal(why="Disallow: /page", until=now + 86_400)
    grant(gate, now, "http://example.org/other")


def test_robots_can_be_ignored(now: float) -> None:
    """With `obey_robots` false, robots.txt is ignored and the spacing still applies."""
    gate = PermitGate(PolitenessRules(agent="a", token="a", obey_robots=False))
    grant(gate, now)

    assert wait_s(gate, now) == 2.0
    assert gate.explain(PAGE, now)["robots"] == "ignored"


def test_requests_for_robots_are_spaced(make_gate: MakeGate, now: float) -> None:
    """Requests for robots.txt and its redirects are spaced like pages, and their permits are marked `for_robots`."""
    gate = make_gate()
    first = gate.request_robots("http://example.org", ADDRESS, 80, now)
    hop = gate.request_robots("http://example.org", "192.0.2.2", 80, now, url="http://two.example/r")

    assert isinstance(first, Permit)
    assert (first.url, first.for_robots) == ("http://example.org/robots.txt", True)
    assert isinstance(hop, Permit)
    assert (hop.host, hop.origin) == ("two.example", "http://example.org")
    assert isinstance(gate.request_robots("http://example.org", ADDRESS, 80, now + 1), Wait)
    assert wait_s(gate, now + 1) == 1.0


def test_unavailable_robots(make_gate: MakeGate, now: float) -> None:
    """While robots.txt is unavailable nothing is visited; it is requested again after minutes, then hours."""
    gate = make_gate()
    retries = []
    for _ in range(9):
        gate.learn_robots("http://example.org", RobotsState(origin="", at=now, status=503))
        refusal = gate.request(PAGE, ADDRESS, 80, now)
        assert isinstance(refusal, Refusal)
        assert refusal.until is not None
        assert isinstance(gate.request(PAGE, ADDRESS, 80, refusal.until), NeedRobots)
        retries.append(refusal.until - now)
        now = refusal.until

    assert 300 <= retries[0] <= 375
    assert retries == sorted(retries)
    assert retries[-1] == 6 * 3600


def test_robots_that_are_unavailable_for_a_month(make_gate: MakeGate, now: float) -> None:
    """After thirty days without a response the last valid file applies again, also after a restart."""
    gate = make_gate(b"User-agent: *\nDisallow: /secret")
    for day in range(31):
        gate.learn_robots("http://example.org", RobotsState(origin="", at=now + day * 86_400, status=0))
    later = now + 30 * 86_400 + 1
    again = make_gate()
    again.restore(*gate.take_changes())
    again.learn_robots("http://example.org", RobotsState(origin="", at=later, status=0))

    assert isinstance(gate.request("http://example.org/secret", ADDRESS, 80, later), Refusal)
    grant(gate, later)
    assert isinstance(again.request("http://example.org/secret", ADDRESS, 80, later), Refusal)
    grant(again, later)


def test_429_for_robots_is_a_wait(make_gate: MakeGate, now: float) -> None:
    """Status 429 for robots.txt causes a wait, not a refusal."""
    gate = make_gate()
    gate.learn_robots("http://example.org", RobotsState(origin="", at=now, status=429))

    assert 300 <= wait_s(gate, now) <= 375


def test_explain(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """`explain` returns the delay and its source, the ruling of robots.txt and its age, and the back-off."""
    gate = make_gate(b"User-agent: *\nCrawl-delay: 9\nDisallow: /x")
    gate.finished(grant(gate, now), answer(429, retry_after="60"), now + 1)
    explained = gate.explain("http://example.org/x", now + 10)

    assert (explained["delay_s"], explained["delay_from"]) == (9.0, "Crawl-delay of robots.txt")
    assert (explained["robots"], explained["robots_why"]) == ("forbidden", "Disallow: /x")
    assert explained["robots_age_s"] == 10.0
    assert (explained["backoff_until"], explained["refusals_in_a_row"]) == (now + 61, 1)
    assert gate.explain("http://unknown.example/", now)["robots"] == "not fetched yet"


def test_changes_are_returned_once(make_gate: MakeGate, now: float) -> None:
    """Each change is returned once; reading methods cause no change."""
    gate = make_gate()
    grant(gate, now)
    gate.free_at("never.example", now)
    gate.explain("http://never.example/", now)
    hosts, addresses, robots = gate.take_changes()

    assert [state.host for state in hosts] == ["example.org"]
    assert [state.address for state in addresses] == [ADDRESS]
    assert robots == ()
    assert gate.take_changes() == ((), (), ())


# ── any sequence of events ──────────────────────────────────────────────────────────────────────────────────

_HOSTS = ("one.example", "two.example")
_ADDRESSES = ("192.0.2.1", "192.0.2.2")
_STEPS = st.lists(
    st.tuples(
        st.floats(0, 20),  # time passes
        st.sampled_from(_HOSTS),
        st.sampled_from(_ADDRESSES),
        st.sampled_from(["request", "finish", "restart"]),
        st.floats(0, 5),  # response time
        st.sampled_from([200, 404, 429, 503]),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(_STEPS, st.floats(0, 8), st.integers(1, 2), st.sampled_from([None, 0, 5]))
def test_rules_hold_in_any_sequence(
    steps: list[tuple[float, str, str, str, float, int]],
    delay_s: float,
    connections: int,
    crawl_delay: int | None,
) -> None:
    """Delays and pauses hold for every host and address in any sequence of events, also across restarts."""
    rules = PolitenessRules(
        agent="a", token="a", delay_s=delay_s, address_delay_s=1.0, connections_per_host=connections
    )
    body = b"" if crawl_delay is None else b"User-agent: *\nCrawl-delay: %d" % crawl_delay
    now = 1_000_000.0
    gate = _gate_with_robots(rules, body, now)
    gap_s = max(delay_s, crawl_delay or 0)
    last_start: dict[str, float] = {}
    rest_until: dict[str, float] = {}
    open_permits: list[Permit] = []
    stored_hosts: dict[str, HostState] = {}
    stored_addresses: dict[str, AddressState] = {}
    for passed_s, host, address, event, duration_s, status in steps:
        now += passed_s
        if event == "restart":
            hosts, addresses, _ = gate.take_changes()
            stored_hosts |= {state.host: state for state in hosts}
            stored_addresses |= {state.address: state for state in addresses}
            gate, open_permits = _gate_with_robots(rules, body, now), []
            gate.restore(stored_hosts.values(), stored_addresses.values(), [])
        elif event == "finish" and open_permits:
            permit = open_permits.pop()
            retry = (("retry-after", "30"),) if status in (429, 503) else ()
            exchange = Exchange(
                url=permit.url, at=now, duration_s=duration_s, request_head=b"", status=status, headers=retry
            )
            gate.finished(permit, exchange, now)
            rest_s = 30.0 if retry else duration_s
            rest_until[permit.host] = max(now + rest_s, rest_until.get(permit.host, 0.0))
        elif event == "request":
            decision = gate.request(f"http://{host}/", address, 80, now)
            if isinstance(decision, Wait):
                assert decision.until > now
                continue
            assert isinstance(decision, Permit)
            # Sums, as in the gate: a difference of large instants is rounded.
            assert now >= last_start.get(host, 0.0) + gap_s
            assert now >= last_start.get(address, 0.0) + 1.0
            assert now >= rest_until.get(host, 0.0)
            assert sum(permit.host == host for permit in open_permits) < connections
            last_start[host] = last_start[address] = now
            open_permits.append(decision)


def _gate_with_robots(rules: PolitenessRules, body: bytes, now: float) -> PermitGate:
    gate = PermitGate(rules)
    gate.restore([], [], [RobotsState(origin=f"http://{host}", at=now, status=200, body=body) for host in _HOSTS])
    return gate


@pytest.mark.parametrize("step_s", [-3600.0, 86_400.0])
def test_a_clock_that_was_set_shortens_and_lengthens_no_wait(
    make_gate: MakeGate, answer: Answer, now: float, step_s: float
) -> None:
    """What remains of gaps, of pauses and of the time until robots.txt is requested again stays the same."""
    gate = make_gate(delay_s=2.0, address_delay_s=1.5)
    grant(gate, now)
    permit = grant(gate, now + 5, "http://one.example/", "192.0.2.7")
    gate.finished(permit, answer(503, Retry_After="50"), now + 5)
    origin = "http://two.example"
    gate.learn_robots(origin, RobotsState(origin=origin, at=now, status=503, body=b""))
    at = now + 1
    robots_at = gate.request(f"{origin}/", "192.0.2.9", 80, at)
    before = [wait_s(gate, at), wait_s(gate, at, "http://one.example/"), gate.free_at("one.example", at) - at]
    gate.shift(step_s)
    at += step_s
    assert [
        wait_s(gate, at),
        wait_s(gate, at, "http://one.example/"),
        gate.free_at("one.example", at) - at,
    ] == pytest.approx(before)
    shifted = gate.request(f"{origin}/", "192.0.2.9", 80, at)
    assert isinstance(robots_at, Refusal)
    assert isinstance(shifted, Refusal)
    assert shifted.until == pytest.approx((robots_at.until or 0.0) + step_s)


def test_required_gap(make_gate: MakeGate) -> None:
    """The required gap is the longest of the own delays, for the host or its address, and the Crawl-delay."""
    url = "http://example.org/"
    assert make_gate(b"", delay_s=0.05, address_delay_s=0.5).required_gap(url) == (0.5, "own delay for one address")
    assert make_gate(b"", delay_s=0.05, address_delay_s=0.05).required_gap(url) == (0.05, "own delay")
    slow = make_gate(b"User-agent: *\nCrawl-delay: 9", delay_s=0.05, address_delay_s=0.05)
    assert slow.required_gap(url) == (9.0, "Crawl-delay of robots.txt")
