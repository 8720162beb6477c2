"""The healthy hosts: a few pages each whose content changes, and robots.txt files that ask for different delays."""

from __future__ import annotations

from msgspec import Struct

from tests.attacks.behaviour import OWN_DELAY_S
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

PAGES = ("/", "/news")
"""The watched pages of every healthy host."""


class HealthyHost(Struct, frozen=True, kw_only=True):
    """A host that answers at once and correctly."""

    number: int
    robots: str = ""
    """Empty: there is no robots.txt."""
    gap_s: float = OWN_DELAY_S
    """The time between two requests that the crawler promises this host."""

    @property
    def host(self) -> str:
        return f"healthy-{self.number}.test"

    async def serve(self, caller: Caller, request: Request) -> None:
        """Every second request of the host finds a new text."""
        caller.keep = True
        if request.path not in PAGES:
            await caller.send(reply("nothing here", 404).wire)
            return
        version = caller.number // 2
        text = f"<!doctype html><title>Host {self.number}</title><main><h1>{request.path}</h1>"
        text += "".join(f"<p>Paragraph {n} of version {version} of this page.</p>" for n in range(20))
        await caller.send(reply(text + "</main>", ETag=f'"{version}"').wire)


HEALTHY = (
    HealthyHost(number=1),
    HealthyHost(number=2, robots="User-agent: *\nDisallow: /private\n"),
    HealthyHost(number=3, robots="User-agent: *\nCrawl-delay: 1\n"),
    HealthyHost(number=4, robots="User-agent: *\nCrawl-delay: 2.5\n", gap_s=2.5),
    HealthyHost(number=5, robots="User-agent: webstrata\nCrawl-delay: 3\n", gap_s=3.0),
    HealthyHost(number=6, robots="User-agent: *\nCrawl-delay: 4\nAllow: /\n", gap_s=4.0),
)
