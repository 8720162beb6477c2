"""Records of the archive: captures to write, their positions in WARC files, and records read back as evidence."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from webstrata.records.exchange import Exchange, Resource


class Original(Struct, frozen=True, kw_only=True, gc=False):
    """The record that first held a payload; revisit records refer to it."""

    payload: str
    """Payload digest: `sha1:` and the base32 SHA-1 of the payload before content decoding, as in WARC and CDX."""
    record_id: str
    at: float
    url: str
    file: str
    """Name of the WARC file, as in `Position`."""
    offset: int


class Capture(Struct, frozen=True, kw_only=True, gc=False):
    """An exchange to be written to the archive."""

    exchange: Exchange
    payload: str
    """Payload digest; for a 304, the digest of the original."""
    original: Original | None = None
    """If set, a revisit record that refers to it is written."""


class ResourceCapture(Struct, frozen=True, kw_only=True, gc=False):
    """Derived content to be written to the archive."""

    resource: Resource
    payload: str
    original: Original | None = None
    """If set, a revisit record that refers to it is written."""


class Position(Struct, frozen=True, kw_only=True, gc=False):
    """The position of a capture's response, revisit or resource record."""

    file: str
    """Name of the WARC file below the archive folder, without `.open`."""
    offset: int
    length: int
    record_id: str
    kind: Literal["response", "revisit", "resource"] = "response"


class KeptRecord(Struct, frozen=True, kw_only=True):
    """A record of an archive, reduced to what a certificate states about it."""

    record: str
    """WARC-Record-ID."""
    sha256: str
    """SHA-256 (hex) of all bytes of the uncompressed record."""
    kind: str
    url: str
    payload: str
    """The payload digest in the record's header. If the payload has another digest, `faults` says so."""
    refers_to: str = ""
    """For a revisit record, the id of the record that holds its payload."""
    faults: tuple[str, ...] = ()
    """What is wrong with the record, one sentence each."""
