"""What sites ask of visitors, and how long their answers take."""

from __future__ import annotations

from statistics import mean

import pytest

from webstrata.lab.livingweb.behaviour import SiteBehaviour, behaviour_of, latency_s
from webstrata.permit.robots import Robots

SHIPPED = (
    "boost llvm jena leancommunity choldgraf spencerahill oil-prices sp500 country-codes congress schemaorg wot-td"
)


@pytest.mark.parametrize("site", [*SHIPPED.split(), "unknown", "another"])
def test_robots_txt_says_what_the_manners_are(site: str) -> None:
    """A crawler that reads the served robots.txt learns exactly the delay and the paths that the meter judges by."""
    manners = behaviour_of(site)
    robots = Robots.parse(manners.robots_txt(f"{site}.test"))
    assert robots.crawl_delay("webstrata") == manners.crawl_delay_s
    for path in ("/", "/index.html", "/pr-preview/", "/pr-preview/x/y.html", "/pr-preview"):
        assert robots.allows("webstrata", f"http://{site}.test{path}") == manners.allows(path)


def test_the_sites_differ() -> None:
    """Among the shipped sites are all kinds of validators, delays, a forbidden folder, and shared addresses."""
    every = [behaviour_of(site) for site in SHIPPED.split()]
    assert {(one.etag, one.last_modified) for one in every} == {(a, b) for a in (True, False) for b in (True, False)}
    assert {one.crawl_delay_s is None for one in every} == {True, False}
    assert {one.gone_status for one in every} == {404, 410}
    assert {one.sitemap for one in every} == {one.gzip for one in every} == {True, False}
    assert sum(bool(one.disallow) for one in every) == 1
    assert len({one.address for one in every}) < len(every)


def test_unknown_sites_keep_their_character() -> None:
    """A site that is not in the table always gets the same manners, on a loopback address."""
    assert behaviour_of("unknown") == behaviour_of("unknown")
    assert behaviour_of("unknown").address.startswith("127.0.1.")


def test_latency_is_the_requests_own() -> None:
    """The same request takes the same time; others differ; the mean is the site's and the extremes are bounded."""
    manners = SiteBehaviour(address="127.0.0.2", latency_mean_s=0.2)
    drawn = [latency_s(manners, "a.test", f"/{n % 50}", n) for n in range(4000)]
    assert drawn[7] == latency_s(manners, "a.test", "/7", 7)
    assert len(set(drawn)) > 3900
    assert mean(drawn) == pytest.approx(0.2, rel=0.05)
    assert 0.02 <= min(drawn) < max(drawn) <= 4.0
