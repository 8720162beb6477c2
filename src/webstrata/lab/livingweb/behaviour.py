"""How a site's server behaves: robots.txt, validators, compression, latency and the status of deleted pages.

The servers of the recorded sites were not recorded. Each shipped site has an entry in a table; the behaviour of any
other site is derived from its name. The sites differ as real ones do: some send both validators, some one, some none.
"""

from __future__ import annotations

import math
from hashlib import blake2b
from statistics import NormalDist

from msgspec import Struct

_SPREAD = 0.5  # sigma of the log-normal latency: one response in twenty takes more than twice the mean
_STANDARD_NORMAL = NormalDist()


class SiteBehaviour(Struct, frozen=True, kw_only=True):
    """The behaviour of one site's server. `crawl_delay_s` and `disallow` are the contents of its robots.txt."""

    address: str
    latency_mean_s: float = 0.2
    etag: bool = True
    last_modified: bool = True
    gzip: bool = True
    crawl_delay_s: float | None = None
    disallow: tuple[str, ...] = ()
    """Path prefixes with a leading slash."""
    sitemap: bool = False
    gone_status: int = 404
    """The status for a deleted page. The status for a page that never existed is always 404."""

    def allows(self, path: str) -> bool:
        """Whether robots.txt allows this path (with a leading slash)."""
        return not path.startswith(self.disallow) if self.disallow else True

    def robots_txt(self, host: str) -> bytes:
        lines = ["User-agent: *"]
        lines += [f"Disallow: {prefix}" for prefix in self.disallow] or ["Disallow:"]
        if self.crawl_delay_s is not None:
            lines.append(f"Crawl-delay: {self.crawl_delay_s:g}")
        if self.sitemap:
            lines += ["", f"Sitemap: http://{host}/sitemap.xml"]
        return ("\n".join(lines) + "\n").encode()


# The data sets of one publisher share an address, as they do on a large hosting service.
_SHIPPED = {
    "boost": SiteBehaviour(address="127.0.0.2", latency_mean_s=0.25, crawl_delay_s=2),
    "llvm": SiteBehaviour(address="127.0.0.3", latency_mean_s=0.15, etag=False, sitemap=True),
    "jena": SiteBehaviour(address="127.0.0.4", latency_mean_s=0.3, sitemap=True, gone_status=410),
    "leancommunity": SiteBehaviour(address="127.0.0.5", latency_mean_s=0.12, crawl_delay_s=1),
    "choldgraf": SiteBehaviour(
        address="127.0.0.6", latency_mean_s=0.1, last_modified=False, disallow=("/pr-preview/",), sitemap=True
    ),
    "spencerahill": SiteBehaviour(
        address="127.0.0.7", latency_mean_s=0.6, etag=False, last_modified=False, gzip=False, crawl_delay_s=10
    ),
    "oil-prices": SiteBehaviour(address="127.0.0.8", latency_mean_s=0.08, last_modified=False),
    "sp500": SiteBehaviour(address="127.0.0.8", latency_mean_s=0.08, last_modified=False),
    "country-codes": SiteBehaviour(address="127.0.0.8", latency_mean_s=0.08, last_modified=False),
    "congress": SiteBehaviour(address="127.0.0.9", latency_mean_s=0.4, gzip=False, crawl_delay_s=5),
    "schemaorg": SiteBehaviour(address="127.0.0.10", latency_mean_s=0.2, etag=False, gone_status=410),
    "wot-td": SiteBehaviour(address="127.0.0.10", latency_mean_s=0.2, crawl_delay_s=3),
}


def behaviour_of(site: str) -> SiteBehaviour:
    """The behaviour in the table, or for a site that is not in it, a behaviour that depends only on its name."""
    if shipped := _SHIPPED.get(site):
        return shipped
    draw = blake2b(site.encode(), digest_size=8).digest()
    return SiteBehaviour(
        address=f"127.0.1.{1 + draw[0] % 8}",
        latency_mean_s=round(0.05 + draw[1] / 256 * 0.5, 3),
        etag=draw[2] % 4 != 0,
        last_modified=draw[3] % 3 != 0,
        gzip=draw[4] % 4 != 0,
        crawl_delay_s=(None, None, 1.0, 5.0)[draw[5] % 4],
        sitemap=draw[6] % 2 == 0,
        gone_status=404 if draw[7] % 2 else 410,
    )


def latency_s(behaviour: SiteBehaviour, host: str, path: str, n: int) -> float:
    """Latency of the n-th request for a path: log-normal around the site's mean, in whole microseconds.

    Computed from a hash of the request instead of a random number generator, so that it does not depend on the other
    requests made before it.
    """
    if behaviour.latency_mean_s == 0.0:
        return 0.0
    draw = blake2b(f"{host} {path} {n}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
    uniform = (int.from_bytes(draw, "big") + 0.5) / 2**64
    factor = math.exp(_SPREAD * _STANDARD_NORMAL.inv_cdf(uniform) - _SPREAD**2 / 2)
    return round(behaviour.latency_mean_s * min(max(factor, 0.1), 20.0), 6)
