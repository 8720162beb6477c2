"""What a record proves about an observation: its kind, the target of a redirect, and what headers say about caches."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from webstrata.clock import iso
from webstrata.permit.backoff import parse_http_date
from webstrata.records import CACHE_HEADERS, KeptRecord
from webstrata.sharp.proof.page_observation import ObservationKind
from webstrata.urls import join

_REDIRECTS = (301, 302, 303, 307, 308)
_GONE = (404, 410)
_NOT_MODIFIED = 304
_AGE = re.compile(r"[0-9]{1,10}")
_CACHE_NAMES = {
    "x-cache": "X-Cache",
    "x-cache-status": "X-Cache-Status",
    "cf-cache-status": "CF-Cache-Status",
    "x-varnish-cache": "X-Varnish-Cache",
    "x-proxy-cache": "X-Proxy-Cache",
    "cache-status": "Cache-Status",
}


class ResponseFacts(Struct, frozen=True, kw_only=True):
    """The fields of an observation that follow from its record."""

    kind: ObservationKind
    status: int
    content_type: str
    target: str
    age_s: int | None
    cache: str
    last_modified: str | None


def response_facts(record: KeptRecord, records: Mapping[str, KeptRecord]) -> ResponseFacts:
    """The facts of a response or revisit record. `records` has the record to which a revisit refers."""
    original = records.get(record.refers_to) if record.kind == "revisit" else record
    target = _target(record)
    return ResponseFacts(
        kind=_kind(record, original, target),
        status=record.status,
        content_type=content_type_of(record, records),
        target=target if target != record.url else "",
        age_s=_age_s(record),
        cache=_cache(record),
        last_modified=_last_modified(record),
    )


def content_type_of(record: KeptRecord, records: Mapping[str, KeptRecord]) -> str:
    """The Content-Type header; a 304 response has that of the content to which it refers."""
    source = records.get(record.refers_to, record) if record.is_unmodified else record
    return source.header("content-type") or ""


def _kind(record: KeptRecord, original: KeptRecord | None, target: str) -> ObservationKind:
    status = record.status
    if 200 <= status < 300 or (status == _NOT_MODIFIED and record.is_unmodified):
        is_complete = original is not None and not (original.kind != "revisit" and original.truncated)
        return "content" if is_complete else "error"
    if status in _REDIRECTS:
        return "redirect" if target and target != record.url else "error"
    return "absent" if status in _GONE else "error"


def _target(record: KeptRecord) -> str:
    """The absolute URL to which a redirect leads; empty if there is none."""
    location = record.header("location")
    return (join(record.url, location) or "") if record.status in _REDIRECTS and location else ""


def _age_s(record: KeptRecord) -> int | None:
    text = (record.header("age") or "").strip()
    return int(text) if _AGE.fullmatch(text) else None


def _cache(record: KeptRecord) -> str:
    """The headers of caches, in the order of `CACHE_HEADERS`."""
    found = (f"{_CACHE_NAMES[name]}: {value}" for name in CACHE_HEADERS for key, value in record.headers if key == name)
    return "; ".join(found)


def _last_modified(record: KeptRecord) -> str | None:
    at = parse_http_date(record.header("last-modified") or "")
    try:
        return None if at is None else iso(at)
    except (ValueError, OverflowError, OSError):
        return None
