"""How polite we are: the few numbers behind every Permit."""

from __future__ import annotations

from msgspec import Struct

_ADDRESS_DELAY_S = 0.5


class PolitenessRules(Struct, frozen=True, kw_only=True):
    agent: str
    """The whole User-Agent header: product, version, contact."""
    token: str
    """Product token: the name that robots.txt files call us by."""
    delay_s: float = 2.0
    """Own gap between the starts of two requests to a host."""
    delay_factor: float = 1.0
    """A host rests this many times its last response time after it answered."""
    max_delay_s: float = 300.0
    """A longer Crawl-delay or rest is cut to this."""
    address_delay_s: float | None = None
    """Gap between the starts of two requests to one address, whatever their hosts; none: a small one."""
    connections_per_host: int = 1
    """Requests to a host that may be open at the same time."""
    robots_max_age_s: float = 86_400.0
    """A robots.txt is fetched again when older; RFC 9309 allows a day."""
    obey_robots: bool = True
    backoff_first_s: float = 60.0
    """Rest of a host after a first 429 or 503 that does not say how long; doubles with each in a row."""
    backoff_max_s: float = 86_400.0
    """No rest is longer, asked for or not."""

    @property
    def address_gap_s(self) -> float:
        return min(_ADDRESS_DELAY_S, self.delay_s) if self.address_delay_s is None else self.address_delay_s
