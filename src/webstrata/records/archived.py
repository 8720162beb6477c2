"""What goes into the archive, and where it stands there."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from webstrata.records.exchange import Exchange, Resource


class Original(Struct, frozen=True, kw_only=True, gc=False):
    """The record that first held a payload; revisit records refer to it."""

    payload: str
    """`sha1:` and base32 of the payload (before content decoding), the field's common key."""
    record_id: str
    at: float
    url: str
    file: str
    offset: int


class Capture(Struct, frozen=True, kw_only=True, gc=False):
    """An exchange on its way into the archive."""

    exchange: Exchange
    payload: str
    """Payload digest; of a 304, the original's."""
    original: Original | None = None
    """Set: write a revisit record that refers to it."""


class ResourceCapture(Struct, frozen=True, kw_only=True, gc=False):
    """Made content on its way into the archive."""

    resource: Resource
    payload: str
    original: Original | None = None
    """Set: write a revisit record that refers to it."""


class Position(Struct, frozen=True, kw_only=True, gc=False):
    """Where a capture's response (or revisit, or resource) record stands."""

    file: str
    """Name of the WARC file below the archive folder, without `.open`."""
    offset: int
    length: int
    record_id: str
    kind: Literal["response", "revisit", "resource"] = "response"


class KeptRecord(Struct, frozen=True, kw_only=True):
    """A record of an archive, as far as a certificate speaks of it."""

    record: str
    sha256: str
    """Of all its bytes, without compression."""
    kind: str
    url: str
    payload: str
    """The digest that its header names; `faults` has a line if the payload is not that."""
    refers_to: str = ""
    """Of a revisit: the record whose payload this one stands for."""
    faults: tuple[str, ...] = ()
