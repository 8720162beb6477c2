"""Converting records to rows and rows to records; columns have the same order in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Row

from webstrata.records import (
    ChangeKind,
    Failure,
    FailureKind,
    Fingerprint,
    Hop,
    NewPage,
    Outcome,
    Page,
    PageRole,
    PageRules,
    PageState,
    Position,
    Site,
    ValueChange,
    Visit,
)
from webstrata.remember.tables import pages, sites, visits
from webstrata.remember.text import named, packed, required, stored

Values = dict[str, Any]

_strings = msgspec.json.Decoder(tuple[str, ...])
_values = msgspec.json.Decoder(tuple[ValueChange, ...])
_keys = msgspec.json.Decoder(tuple[int, ...])
_fingerprint = msgspec.json.Decoder(Fingerprint)
_page_rules = msgspec.json.Decoder(PageRules)
_headers = msgspec.json.Decoder(dict[str, str])
_hops = msgspec.json.Decoder(tuple[Hop, ...])

# A dict look-up is several times as fast as calling the enum.
_roles = {role.value: role for role in PageRole}
_states = {state.value: state for state in PageState}
_outcomes: dict[str | None, Outcome | None] = {None: None, **{outcome.value: outcome for outcome in Outcome}}
_kinds = {kind.value: kind for kind in FailureKind}
_change_kinds = {kind.value: kind for kind in ChangeKind}

_NO_TAGS = "[]"

# ── pages ───────────────────────────────────────────────────────────────────────────────────────────────────

_PAGE = """
    id url host weight tags role site_id depth requisites state added_at
    next_at interval_s policy policy_state reason every_s windows snoozed_until
    visits changes failures last_visit_at last_seen_at last_change_at last_outcome
    etag last_modified payload fingerprint gone full_bytes answers_304 page_rules memory counted edits
"""
PAGE_COLUMNS = [pages.c[name] for name in _PAGE.split()]


def page(row: Sequence[Any]) -> Page:
    (
        id_, url, host, weight, tags, role, site_id, depth, requisites, state, added_at, next_at, interval_s,
        policy, policy_state, reason, every_s, windows, snoozed_until, visited, changes, failures, last_visit_at,
        last_seen_at, last_change_at, last_outcome, etag, last_modified, payload, fingerprint, gone, full_bytes,
        answers_304, page_rules, memory, counted, edits,
    ) = row  # fmt: skip
    return Page(
        id=id_,
        url=url,
        host=host,
        weight=weight,
        tags=() if tags == _NO_TAGS else _strings.decode(tags),
        role=_roles[role],
        site_id=site_id,
        depth=depth,
        requisites=requisites,
        state=_states[state],
        added_at=added_at,
        next_at=next_at,
        interval_s=interval_s,
        policy=policy,
        policy_state=policy_state,
        reason=reason,
        every_s=every_s,
        windows=windows,
        snoozed_until=snoozed_until,
        visits=visited,
        changes=changes,
        failures=failures,
        last_visit_at=last_visit_at,
        last_seen_at=last_seen_at,
        last_change_at=last_change_at,
        last_outcome=_outcomes[last_outcome],
        etag=etag,
        last_modified=last_modified,
        payload=payload,
        fingerprint=None if fingerprint is None else _fingerprint.decode(fingerprint),
        gone=gone,
        full_bytes=full_bytes,
        answers_304=answers_304,
        page_rules=None if page_rules is None else _page_rules.decode(page_rules),
        memory=memory,
        counted=() if counted is None else _keys.decode(counted),
        edits=edits,
    )


def new_page(page: NewPage, now: float) -> Values:
    """The row of a new page: due at once unless `next_at` is set; a captured page is never due."""
    first_at = now if page.next_at is None else page.next_at
    return {
        "url": named(page.url, "URL"),
        "host": named(page.host, "host"),
        "weight": 1.0 if page.weight is None else page.weight,
        "tags": packed_tags(page.tags),
        "role": page.role.value,
        "site_id": page.site_id,
        "depth": page.depth,
        "requisites": page.requisites,
        "state": page.state.value,
        "added_at": now,
        "next_at": first_at if page.state is PageState.ACTIVE else None,
        "policy_state": b"",
        "reason": "",
        "visits": 0,
        "changes": 0,
        "failures": 0,
        "gone": False,
        "answers_304": False,
        "page_rules": None if page.page_rules is None else packed(page.page_rules),
        "memory": b"",
        "every_s": page.every_s,
        "windows": page.windows,
    }


def packed_tags(tags: Sequence[str]) -> str:
    """Sorted and without duplicates, so that equal sets give equal text."""
    return packed(sorted({named(tag, "tag") for tag in tags})) if tags else _NO_TAGS


def unpacked(tags: str) -> tuple[str, ...]:
    return _strings.decode(tags)


def visited_page(page: Page) -> Values:
    """The columns that a visit may change. Weight, tags and state are set only by users."""
    return {
        "page": page.id,
        "next": page.next_at,
        "interval_s": page.interval_s,
        "policy": stored(page.policy),
        "policy_state": page.policy_state,
        "reason": required(page.reason),
        "visits": page.visits,
        "changes": page.changes,
        "failures": page.failures,
        "last_visit_at": page.last_visit_at,
        "last_seen_at": page.last_seen_at,
        "last_change_at": page.last_change_at,
        "last_outcome": None if page.last_outcome is None else page.last_outcome.value,
        "etag": stored(page.etag),
        "last_modified": stored(page.last_modified),
        "payload": stored(page.payload),
        "fingerprint": None if page.fingerprint is None else packed(page.fingerprint),
        "gone": page.gone,
        "full_bytes": page.full_bytes,
        "answers_304": page.answers_304,
        "memory": page.memory,
    }


# ── visits ──────────────────────────────────────────────────────────────────────────────────────────────────

VISIT_COLUMNS = [visits.c[name] for name in visits.c.keys()]  # noqa: SIM118 - a column collection, not a dict


def visit_values(visit: Visit) -> Values:
    position = visit.position
    return {
        "page_id": visit.page_id,
        "url": required(visit.url),
        "at": visit.at,
        "outcome": visit.outcome.value,
        "status": visit.status,
        "failure": None if visit.failure is None else visit.failure.kind.value,
        "failure_detail": None if visit.failure is None else required(visit.failure.detail),
        "raw_changed": visit.raw_changed,
        "counts": visit.counts,
        "duration_s": visit.duration_s,
        "bytes": visit.bytes,
        "headers": packed(visit.headers) if visit.headers else None,
        "raw": visit.raw,
        "text": visit.text,
        "payload": stored(visit.payload),
        "truncated": visit.truncated,
        "kind": visit.kind.value,
        "significance": visit.significance,
        "new_links": visit.new_links,
        "file": None if position is None else position.file,
        "file_offset": None if position is None else position.offset,
        "length": None if position is None else position.length,
        "record_id": None if position is None else position.record_id,
        "record_kind": None if position is None else position.kind,
        "hops": packed(visit.hops) if visit.hops else None,
        "reverted": visit.reverted,
        "reasons": packed(visit.reasons) if visit.reasons else None,
        "product_values": packed(visit.product_values) if visit.product_values else None,
        "learned": packed(visit.learned) if visit.learned else None,
    }


def visit(row: Sequence[Any]) -> Visit:
    (
        id_, page_id, url, at, outcome, status, failure, failure_detail, raw_changed, counts, duration_s,
        size, headers, raw, text, payload, truncated, kind, significance, new_links, file, offset, length, record_id,
        record_kind, hop_text, reverted, reasons, product_values, learned,
    ) = row  # fmt: skip
    return Visit(
        page_id=page_id,
        url=url,
        at=at,
        outcome=Outcome(outcome),
        status=status,
        failure=None if failure is None else Failure(kind=_kinds[failure], detail=failure_detail),
        raw_changed=raw_changed,
        counts=counts,
        duration_s=duration_s,
        bytes=size,
        headers={} if headers is None else _headers.decode(headers),
        raw=raw,
        text=text,
        payload=payload,
        truncated=truncated,
        kind=_change_kinds[kind],
        significance=significance,
        reasons=() if reasons is None else _strings.decode(reasons),
        product_values=() if product_values is None else _values.decode(product_values),
        reverted=reverted,
        new_links=new_links,
        learned=() if learned is None else _strings.decode(learned),
        position=position(file, offset, length, record_id, record_kind),
        hops=hops(hop_text),
        id=id_,
    )


def position(file: str | None, offset: int, length: int, record_id: str, kind: Any) -> Position | None:
    if file is None:
        return None
    return Position(file=file, offset=offset, length=length, record_id=record_id, kind=kind)


def hops(text: str | None) -> tuple[Hop, ...]:
    return () if text is None else _hops.decode(text)


# ── sites ───────────────────────────────────────────────────────────────────────────────────────────────────

SITE_COLUMNS = [column for column in sites.c if column.name != "added_at"]


def site_values(site: Site) -> Values:
    """The row of a site, without its id, which the database assigns."""
    named(site.url, "URL")
    lists = {"include": packed(site.include), "exclude": packed(site.exclude), "tags": packed_tags(site.tags)}
    return {name: value for name, value in {**asdict(site), **lists}.items() if name != "id"}


def site(row: Row[Any]) -> Site:
    lists = {name: _strings.decode(row._mapping[name]) for name in ("include", "exclude", "tags")}
    return Site(**{**row._mapping, **lists})
