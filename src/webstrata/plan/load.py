"""The input of a plan: the visits of each host, the spacing of requests, and the length of a slot."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from webstrata.errors import UsageError

SLOT_S = 3600.0
"""Length of a slot: the visits of one hour are planned together."""


class SpacingModel(Struct, frozen=True, kw_only=True):
    """The spacing that applies to every host (the same numbers as in `permit.spacing.PolitenessRules`)."""

    delay_s: float = 2.0
    delay_factor: float = 1.0
    max_delay_s: float = 300.0
    address_gap_s: float = 0.5
    connections_per_host: int = 1

    def __post_init__(self) -> None:
        spans = (self.delay_s, self.delay_factor, self.max_delay_s, self.address_gap_s)
        if not all(math.isfinite(number) and number >= 0 for number in spans) or self.connections_per_host < 1:
            raise UsageError("delays are numbers from 0 up, and a host has at least one connection.")


class HostLoad(Struct, frozen=True, kw_only=True):
    """Visits to one host."""

    host: str
    docs: int
    address: str = ""
    """Hosts with the same address share its spacing; empty: no other host has it."""
    asked_s: float | None = None
    """The Crawl-delay of its robots.txt, 0 if there is none; None: not known yet."""
    needs_robots: bool = False
    """robots.txt must be requested first."""
    free_in_s: float = 0.0
    """No request before: the host was visited just now, or asked for a pause."""

    @property
    def address_key(self) -> str:
        """The address, or a unique name if the host has its own."""
        return self.address or f"host {self.host}"


def tidy(loads: Iterable[HostLoad]) -> list[HostLoad]:
    """One load for each host with documents; invalid times count as unknown."""
    by_host: dict[str, HostLoad] = {}
    for load in loads:
        if load.docs <= 0:
            continue
        if (before := by_host.get(load.host)) is not None:
            load = replace(before, docs=before.docs + load.docs)
        asked_s = load.asked_s
        if asked_s is not None and not (math.isfinite(asked_s) and asked_s >= 0):
            asked_s = None
        free_in_s = load.free_in_s if math.isfinite(load.free_in_s) else 0.0
        by_host[load.host] = replace(load, asked_s=asked_s, free_in_s=max(0.0, free_in_s))
    return list(by_host.values())
