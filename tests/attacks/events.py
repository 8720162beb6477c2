"""What the server process tells the runner: the addresses of the hosts, and events, one JSON object in a line."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct


class Places(Struct, frozen=True, kw_only=True):
    """Where the hosts are."""

    hosts: dict[str, str]
    """For the setting `fetch.hosts`."""
    allowed: tuple[str, ...]
    """For the setting `fetch.allow_private`."""
    port: int
    other_port: int
    """A port of an allowed address that is not allowed itself."""
    authority: str
    """For the setting `fetch.ca_file`."""


class ConnectionEvent(Struct, frozen=True, kw_only=True, tag="connection"):
    """A host accepted a connection."""

    at: float
    host: str


class RequestEvent(Struct, frozen=True, kw_only=True, tag="request", omit_defaults=True):
    """A request arrived; or, with `is_answer`, its response asked for a pause."""

    at: float
    host: str
    path: str
    hold_s: float = 0.0
    """Retry-After of the response."""
    is_answer: bool = False


class SentEvent(Struct, frozen=True, kw_only=True, tag="sent"):
    """A connection ended after the host had sent this number of bytes."""

    at: float
    host: str
    count: int


class ForbiddenEvent(Struct, frozen=True, kw_only=True, tag="forbidden"):
    """A connection to an address or port that the crawler may not visit."""

    at: float
    address: str


Event = ConnectionEvent | RequestEvent | SentEvent | ForbiddenEvent

encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode


def read_events(folder: Path) -> list[Event]:
    """All events so far."""
    lines = (folder / "events.jsonl").read_bytes().split(b"\n")
    return [_decode(line) for line in lines[:-1]]
