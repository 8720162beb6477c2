"""The gate: who gets a Permit, and when."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from webstrata.permit.gate import PermitGate, Rules
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
    permit = gate.ask(url, address, 80, now)
    assert isinstance(permit, Permit), permit
    return permit


def wait_s(gate: PermitGate, now: float, url: str = PAGE, address: str = ADDRESS) -> float:
    wait = gate.ask(url, address, 80, now)
    assert isinstance(wait, Wait), wait
    return wait.until - now


def test_a_permit_says_all_that_a_request_needs(make_gate: MakeGate, now: float) -> None:
    """Address, port, origin, host and agent are those that were asked for and counted."""
    permit = grant(make_gate(), now)

    assert (permit.url, permit.origin, permit.host) == (PAGE, "http://example.org", "example.org")
    assert (permit.address, permit.port, permit.granted_at) == (ADDRESS, 80, now)
    assert permit.agent.startswith("webstrata/1")
    assert not permit.for_robots


def test_starts_are_spaced_by_the_own_delay(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """The gap counts from start to start."""
    gate = make_gate(delay_s=2.0)
    permit = grant(gate, now)
    gate.finished(permit, answer(duration_s=0.5), now + 0.5)

    assert wait_s(gate, now + 0.5) == pytest.approx(1.5)
    grant(gate, now + 2.0)


def test_a_late_start_is_a_start(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """A request that waited for a free connection began later than its permit: the gap counts from there."""
    gate = make_gate(delay_s=2.0)
    permit = grant(gate, now)
    gate.finished(permit, replace(answer(duration_s=0.5), at=now + 30.0), now + 30.5)

    assert wait_s(gate, now + 30.5) == pytest.approx(1.5)


def test_planning_is_told_what_is_known(make_gate: MakeGate, now: float) -> None:
    """An unknown origin has no Crawl-delay yet and needs its robots.txt; a known one has what it asks for, or 0."""
    gate = make_gate(delay_s=2.0)

    assert gate.outlook("http://unknown.example/", now) == (None, True, now)
    assert gate.outlook(PAGE, now) == (0.0, False, now)
    assert gate.outlook(PAGE, now + 2 * 86_400)[1]
    grant(gate, now)
    assert gate.outlook(PAGE, now)[2] == now + 2.0


def test_a_slow_host_rests_as_long_as_it_worked(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """After the answer a factor of the response time passes."""
    gate = make_gate(delay_s=2.0, delay_factor=1.5)
    gate.finished(grant(gate, now), answer(duration_s=10.0), now + 10.0)

    assert wait_s(gate, now + 10.0) == pytest.approx(15.0)
    assert gate.gap_s(PAGE) == pytest.approx(25.0)


def test_crawl_delay_is_kept_and_cut(make_gate: MakeGate, now: float) -> None:
    """The owner's delay counts where longer than ours, up to the limit, and `explain` says so."""
    asked = make_gate(b"User-agent: *\nCrawl-delay: 7")
    cut = make_gate(b"User-agent: *\nCrawl-delay: 86400", max_delay_s=300.0)
    grant(asked, now)
    grant(cut, now)

    assert asked.earliest("example.org", now) == now + 7
    assert cut.earliest("example.org", now) == now + 300
    assert cut.explain(PAGE, now)["crawl_delay_cut"] is True


def test_a_crawl_delay_just_learned_binds_the_next_request(now: float) -> None:
    """The first page comes no sooner after robots.txt than robots.txt asks."""
    gate = PermitGate(Rules(agent="a", token="a"))
    body = b"User-agent: *\nCrawl-delay: 30"
    gate.learn_robots("http://example.org", RobotsState(origin="http://example.org", at=now, status=200, body=body))

    assert wait_s(gate, now) == 30.0


def test_no_overlap_on_one_host(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """While a request is open the next waits, however long it takes."""
    gate = make_gate(delay_s=1.0)
    permit = grant(gate, now)

    assert wait_s(gate, now + 60) > 0
    gate.finished(permit, answer(duration_s=60.0), now + 60)
    grant(gate, now + 120)


def test_more_connections_where_allowed(make_gate: MakeGate, now: float) -> None:
    """Two may be open if the rules say so; the third waits."""
    gate = make_gate(delay_s=0.0, connections_per_host=2)
    grant(gate, now)
    grant(gate, now + 1)

    assert wait_s(gate, now + 2) > 0


def test_hosts_at_one_address_are_spaced(make_gate: MakeGate, now: float) -> None:
    """Two hosts on one machine share its delay, on two machines they do not."""
    gate = make_gate(address_delay_s=1.0)
    grant(gate, now, "http://one.example/")

    assert wait_s(gate, now, "http://two.example/") == 1.0
    grant(gate, now, "http://two.example/", "192.0.2.2")


def test_the_address_delay_is_small_by_default(make_gate: MakeGate, now: float) -> None:
    """Half a second, or the own delay where that is less."""
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
    """Seconds and dates count from the answer, are cut to a day, and never undercut the delay."""
    gate = make_gate()
    gate.finished(grant(gate, now), answer(status, 0.0, **headers), now)

    assert wait_s(gate, now) == pytest.approx(seconds)


def test_back_off_doubles_and_is_forgiven(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """Each refusal without a sensible Retry-After doubles the rest up to a day; one good answer ends that."""
    gate = make_gate(robots_max_age_s=1e9)
    rests = []
    for _ in range(14):
        gate.finished(grant(gate, now), answer(503, retry_after="soon"), now)
        rests.append(wait_s(gate, now))
        now = gate.earliest("example.org", now)
    gate.finished(grant(gate, now), answer(200), now)
    after_success = gate.earliest("example.org", now)
    gate.finished(grant(gate, after_success), answer(429), after_success)

    assert 60 <= rests[0] <= 75
    assert all(1.5 < later / sooner < 2.6 for sooner, later in pairwise(rests[:8]))
    assert rests[-1] == 86_400.0
    assert wait_s(gate, after_success) == pytest.approx(rests[0])


def test_endless_short_retry_after_is_not_believed(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """From the fourth refusal in a row the doubling counts, whatever the server asks."""
    gate = make_gate()
    rests = []
    for _ in range(5):
        gate.finished(grant(gate, now), answer(503, 0.0, retry_after="1"), now)
        rests.append(wait_s(gate, now))
        now = gate.earliest("example.org", now)

    assert rests[:3] == [2.0, 2.0, 2.0]
    assert rests[3] >= 480


def test_nobody_there(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """Two refused connections are met with the usual gap, the third in a row with a rest."""
    gate = make_gate()
    waits = []
    for _ in range(3):
        gate.finished(grant(gate, now), answer(failure=FailureKind.REFUSED, duration_s=0.0), now)
        waits.append(wait_s(gate, now))
        now = gate.earliest("example.org", now)

    assert waits[:2] == [2.0, 2.0]
    assert waits[2] >= 240


def test_other_failures_neither_rest_nor_forgive(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """A malformed answer is the page's affair."""
    gate = make_gate()
    gate.finished(grant(gate, now), answer(503, 0.0), now)
    now = gate.earliest("example.org", now)
    gate.finished(grant(gate, now), answer(failure=FailureKind.MALFORMED, duration_s=0.0), now)

    assert wait_s(gate, now) == 2.0
    assert gate.explain(PAGE, now)["refusals_in_a_row"] == 1


def test_robots_must_be_known_and_fresh(make_gate: MakeGate, now: float) -> None:
    """Unknown, a day old, or from the future: it is fetched before the page."""
    gate = make_gate()

    assert gate.ask("https://example.org/", ADDRESS, 443, now) == NeedRobots(origin="https://example.org")
    grant(gate, now + 86_399)
    assert gate.ask(PAGE, ADDRESS, 80, now + 86_400) == NeedRobots(origin="http://example.org")
    assert gate.ask(PAGE, ADDRESS, 80, now - 10) == NeedRobots(origin="http://example.org")


def test_what_robots_forbids_is_refused(make_gate: MakeGate, now: float) -> None:
    """A refusal names the line and lasts until the file is read again; it takes no turn."""
    gate = make_gate(b"User-agent: webstrata\nDisallow: /page")
    refusal = gate.ask(PAGE, ADDRESS, 80, now)

    assert refusal == Refusal(why="Disallow: /page", until=now + 86_400)
    grant(gate, now, "http://example.org/other")


def test_robots_can_be_left_aside(now: float) -> None:
    """Who watches the own site may say so; spacing stays."""
    gate = PermitGate(Rules(agent="a", token="a", obey_robots=False))
    grant(gate, now)

    assert wait_s(gate, now) == 2.0
    assert gate.explain(PAGE, now)["robots"] == "ignored"


def test_requests_for_robots_take_turns(make_gate: MakeGate, now: float) -> None:
    """robots.txt and the pages it redirects to are spaced like pages, and their permits say what they are for."""
    gate = make_gate()
    first = gate.ask_robots("http://example.org", ADDRESS, 80, now)
    hop = gate.ask_robots("http://example.org", "192.0.2.2", 80, now, url="http://two.example/r")

    assert isinstance(first, Permit)
    assert (first.url, first.for_robots) == ("http://example.org/robots.txt", True)
    assert isinstance(hop, Permit)
    assert (hop.host, hop.origin) == ("two.example", "http://example.org")
    assert isinstance(gate.ask_robots("http://example.org", ADDRESS, 80, now + 1), Wait)
    assert wait_s(gate, now + 1) == 1.0


def test_unreachable_robots_forbid_for_a_while(make_gate: MakeGate, now: float) -> None:
    """While robots.txt cannot be had nothing is visited, and it is asked for again in minutes, then hours."""
    gate = make_gate()
    retries = []
    for _ in range(9):
        gate.learn_robots("http://example.org", RobotsState(origin="", at=now, status=503))
        refusal = gate.ask(PAGE, ADDRESS, 80, now)
        assert isinstance(refusal, Refusal)
        assert refusal.until is not None
        assert isinstance(gate.ask(PAGE, ADDRESS, 80, refusal.until), NeedRobots)
        retries.append(refusal.until - now)
        now = refusal.until

    assert 300 <= retries[0] <= 375
    assert retries == sorted(retries)
    assert retries[-1] == 6 * 3600


def test_after_a_month_the_last_good_file_counts(make_gate: MakeGate, now: float) -> None:
    """Thirty days without an answer bring back the last good copy, also after a restart."""
    gate = make_gate(b"User-agent: *\nDisallow: /secret")
    for day in range(31):
        gate.learn_robots("http://example.org", RobotsState(origin="", at=now + day * 86_400, status=0))
    later = now + 30 * 86_400 + 1
    again = make_gate()
    again.recall(*gate.changed())
    again.learn_robots("http://example.org", RobotsState(origin="", at=later, status=0))

    assert isinstance(gate.ask("http://example.org/secret", ADDRESS, 80, later), Refusal)
    grant(gate, later)
    assert isinstance(again.ask("http://example.org/secret", ADDRESS, 80, later), Refusal)
    grant(again, later)


def test_429_for_robots_is_a_wait(make_gate: MakeGate, now: float) -> None:
    """It says come later, not no."""
    gate = make_gate()
    gate.learn_robots("http://example.org", RobotsState(origin="", at=now, status=429))

    assert 300 <= wait_s(gate, now) <= 375


def test_explain(make_gate: MakeGate, answer: Answer, now: float) -> None:
    """`why` learns the delay and its source, the verdict of robots.txt and its age, and the back-off."""
    gate = make_gate(b"User-agent: *\nCrawl-delay: 9\nDisallow: /x")
    gate.finished(grant(gate, now), answer(429, retry_after="60"), now + 1)
    told = gate.explain("http://example.org/x", now + 10)

    assert (told["delay_s"], told["delay_from"]) == (9.0, "Crawl-delay of robots.txt")
    assert (told["robots"], told["robots_why"], told["robots_age_s"]) == ("forbidden", "Disallow: /x", 10.0)
    assert (told["backoff_until"], told["refusals_in_a_row"]) == (now + 61, 1)
    assert gate.explain("http://unknown.example/", now)["robots"] == "not fetched yet"


def test_changes_are_drained_once(make_gate: MakeGate, now: float) -> None:
    """What changed is handed out once; looking changes nothing."""
    gate = make_gate()
    grant(gate, now)
    gate.earliest("never.example", now)
    gate.explain("http://never.example/", now)
    hosts, addresses, robots = gate.changed()

    assert [state.host for state in hosts] == ["example.org"]
    assert [state.address for state in addresses] == [ADDRESS]
    assert robots == ()
    assert gate.changed() == ((), (), ())


# ── any sequence of events ──────────────────────────────────────────────────────────────────────────────────

_HOSTS = ("one.example", "two.example")
_ADDRESSES = ("192.0.2.1", "192.0.2.2")
_STEPS = st.lists(
    st.tuples(
        st.floats(0, 20),  # time passes
        st.sampled_from(_HOSTS),
        st.sampled_from(_ADDRESSES),
        st.sampled_from(["ask", "finish", "restart"]),
        st.floats(0, 5),  # response time
        st.sampled_from([200, 404, 429, 503]),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(_STEPS, st.floats(0, 8), st.integers(1, 2), st.sampled_from([None, 0, 5]))
def test_promises_hold_in_any_sequence(
    steps: list[tuple[float, str, str, str, float, int]],
    delay_s: float,
    connections: int,
    crawl_delay: int | None,
) -> None:
    """No host or address is visited sooner than its gap, a rest is kept, and a restart forgets no promise."""
    rules = Rules(agent="a", token="a", delay_s=delay_s, address_delay_s=1.0, connections_per_host=connections)
    body = b"" if crawl_delay is None else b"User-agent: *\nCrawl-delay: %d" % crawl_delay
    now = 1_000_000.0
    gate = _knowing_gate(rules, body, now)
    gap_s = max(delay_s, crawl_delay or 0)
    last_start: dict[str, float] = {}
    rest_until: dict[str, float] = {}
    open_permits: list[Permit] = []
    stored_hosts: dict[str, HostState] = {}
    stored_addresses: dict[str, AddressState] = {}
    for passed_s, host, address, event, duration_s, status in steps:
        now += passed_s
        if event == "restart":
            hosts, addresses, _ = gate.changed()
            stored_hosts |= {state.host: state for state in hosts}
            stored_addresses |= {state.address: state for state in addresses}
            gate, open_permits = _knowing_gate(rules, body, now), []
            gate.recall(stored_hosts.values(), stored_addresses.values(), [])
        elif event == "finish" and open_permits:
            permit = open_permits.pop()
            retry = (("retry-after", "30"),) if status in (429, 503) else ()
            exchange = Exchange(
                url=permit.url, at=now, duration_s=duration_s, request_head=b"", status=status, headers=retry
            )
            gate.finished(permit, exchange, now)
            rest_s = 30.0 if retry else duration_s
            rest_until[permit.host] = max(now + rest_s, rest_until.get(permit.host, 0.0))
        elif event == "ask":
            answer = gate.ask(f"http://{host}/", address, 80, now)
            if isinstance(answer, Wait):
                assert answer.until > now
                continue
            assert isinstance(answer, Permit)
            assert now - last_start.get(host, 0.0) >= gap_s
            assert now - last_start.get(address, 0.0) >= 1.0
            assert now >= rest_until.get(host, 0.0)
            assert sum(permit.host == host for permit in open_permits) < connections
            last_start[host] = last_start[address] = now
            open_permits.append(answer)


def _knowing_gate(rules: Rules, body: bytes, now: float) -> PermitGate:
    gate = PermitGate(rules)
    gate.recall([], [], [RobotsState(origin=f"http://{host}", at=now, status=200, body=body) for host in _HOSTS])
    return gate
