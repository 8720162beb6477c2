"""The behaviour of sites: robots.txt and latencies."""

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
    """The served robots.txt contains exactly the delay and the paths that the politeness meter checks."""
    behaviour = behaviour_of(site)
    robots = Robots.parse(behaviour.robots_txt(f"{site}.test"))
    assert robots.crawl_delay("webstrata") == behaviour.crawl_delay_s
    for path in ("/", "/index.html", "/pr-preview/", "/pr-preview/x/y.html", "/pr-preview"):
        assert robots.allows("webstrata", f"http://{site}.test{path}") == behaviour.allows(path)


def test_the_sites_differ() -> None:
    """The shipped sites have all combinations of validators, delays, a disallowed folder, and shared addresses."""
    sites = [behaviour_of(site) for site in SHIPPED.split()]
    assert {(site.etag, site.last_modified) for site in sites} == {(a, b) for a in (True, False) for b in (True, False)}
    assert {site.crawl_delay_s is None for site in sites} == {True, False}
    assert {site.gone_status for site in sites} == {404, 410}
    assert {site.sitemap for site in sites} == {site.gzip for site in sites} == {True, False}
    assert sum(bool(site.disallow) for site in sites) == 1
    assert len({site.address for site in sites}) < len(sites)


def test_unknown_sites_have_a_constant_behaviour() -> None:
    """A site that is not in the table always has the same behaviour, on a loopback address."""
    assert behaviour_of("unknown") == behaviour_of("unknown")
    assert behaviour_of("unknown").address.startswith("127.0.1.")


def test_latency_depends_on_the_request_only() -> None:
    """The same request always has the same latency; others differ; the mean is the site's; extremes are bounded."""
    behaviour = SiteBehaviour(address="127.0.0.2", latency_mean_s=0.2)
    drawn = [latency_s(behaviour, "a.test", f"/{n % 50}", n) for n in range(4000)]
    assert drawn[7] == latency_s(behaviour, "a.test", "/7", 7)
    assert len(set(drawn)) > 3900
    assert mean(drawn) == pytest.approx(0.2, rel=0.05)
    assert 0.02 <= min(drawn) < max(drawn) <= 4.0
