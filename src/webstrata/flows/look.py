"""Reading what came: decode, fingerprint, links. Pure and picklable, so that it can run in another process."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from msgspec import Struct

from webstrata.coding import decode
from webstrata.observe.page import observe
from webstrata.observe.sitemap import read_sitemap
from webstrata.records import Fingerprint


class Job(Struct, frozen=True, kw_only=True):
    """One answer to read."""

    url: str
    body: bytes
    content_type: str | None = None
    content_encoding: str | None = None
    want_links: bool = False
    want_requisites: bool = False
    is_sitemap: bool = False
    max_decoded: int
    max_ratio: float


class Look(Struct, frozen=True, kw_only=True):
    """What was seen in it."""

    payload: str
    """`sha1:` of the bytes as sent."""
    fingerprint: Fingerprint
    links: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    """Further sitemaps that a sitemap index lists."""
    requisites: tuple[str, ...] = ()
    problem: str | None = None
    """Why the content could not be decoded as its header says."""
    torn: bool = False
    """Only the beginning of the content could be decoded."""


def payload_digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def look(jobs: Sequence[Job]) -> list[Look]:
    """Read a batch of answers."""
    return [_look(job) for job in jobs]


def look_at_bytes(job: Job) -> Look:
    """For an answer that cannot be read any deeper."""
    mark = Fingerprint(raw=hashlib.sha256(job.body).hexdigest(), size=len(job.body))
    return Look(payload=payload_digest(job.body), fingerprint=mark, problem="could not be read safely")


def _look(job: Job) -> Look:
    decoded = decode(job.body, job.content_encoding, max_bytes=job.max_decoded, max_ratio=job.max_ratio)
    seen = observe(decoded.body, job.content_type, job.url)
    links: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    if job.is_sitemap:
        listed = read_sitemap(decoded.body, job.url)
        found = tuple(entry.url for entry in listed.entries)
        links, sitemaps = ((), found) if listed.kind == "index" else (found, ())
    elif job.want_links and not seen.nofollow:
        links = seen.links
    return Look(
        payload=payload_digest(job.body),
        fingerprint=seen.fingerprint,
        links=links,
        sitemaps=sitemaps,
        requisites=seen.requisites if job.want_requisites else (),
        problem=decoded.problem,
        torn=decoded.torn,
    )
