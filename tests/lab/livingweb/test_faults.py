"""Faults of the living web: drawn by a seed, served, and recorded."""

from __future__ import annotations

from collections import Counter

from webstrata.lab.livingweb.faults import KINDS, ServedFaults


def test_faults_are_drawn_and_recorded() -> None:
    """About the given share of the requests are answered wrongly, in all kinds; equal seeds draw the same faults."""
    first, second, other = ServedFaults(0.25, 1), ServedFaults(0.25, 1), ServedFaults(0.25, 2)
    for faults in (first, second, other):
        for number in range(1000):
            faults.response("a.test", f"/{number % 50}", float(number))
    assert first.ledger == second.ledger != other.ledger
    assert 200 < len(first.ledger) < 300
    kinds = Counter(fault.kind for fault in first.ledger)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) > 20


def test_other_contents_are_never_equal() -> None:
    """Two pages that are served by mistake differ, so that no two downloads agree on a wrong page."""
    faults = ServedFaults(1.0)
    responses = [faults.response("a.test", "/a", 0.0) for _ in range(50)]
    bodies = [response.body for response in responses if response is not None and response.status == 200]
    assert len(bodies) > 3
    assert len(set(bodies)) == len(bodies)


def test_robots_and_sitemaps_have_no_faults() -> None:
    """Files that rule the crawl itself are always served as they are."""
    faults = ServedFaults(1.0)
    assert faults.response("a.test", "/robots.txt", 0.0) is None
    assert faults.response("a.test", "/sitemap.xml", 0.0) is None
    assert faults.ledger == []
