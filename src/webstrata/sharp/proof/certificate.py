"""The certificate of a capture: every observation of every URL, and the verdicts that follow from them.

It is a plain document in the package of the capture, whose signature covers it (docs/reference/certificate.md).
Fractional numbers are written as decimal strings, so that programs in all languages compute the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S, iso
from webstrata.sharp.proof.capture_outcome import CaptureOutcome, PageHistory
from webstrata.sharp.proof.page_observation import PageObservation, equal_layers
from webstrata.sharp.proof.verdicts import (
    PAGE_VERDICTS,
    CompositePage,
    CompositeState,
    JudgedPage,
    composite_page,
    judged_page,
    judged_requisite,
    page_as_part,
)
from webstrata.sharp.schedule import interval_of

TYPE = "webstrata/capture"
VERSION = 2
_COUNTED_LAYERS = ("raw", "visible", "main")
"""For these layers the certificate counts the pages that are sharp by them at the instant."""


class CapturePolicy(Struct, frozen=True, kw_only=True):
    """The rules of the capture."""

    algorithm: str
    layer: str
    """The layer that decides whether two observations show the same content."""
    tau: float
    delay_s: float
    scope: str
    seeds: tuple[str, ...]
    sharp: bool = True
    conditional_requests: bool = False
    rendered: bool = False
    """Pages were rendered in a browser; the contents are those of the DOM."""
    repair: int = 0
    requisites: bool = True
    reversion: float = 0.0
    """The share of changes that restore an earlier content, as observed on this site or assumed."""


class ObservedUrl(Struct, frozen=True, kw_only=True):
    """A URL that is no page of the capture, with all observations of it."""

    url: str
    observations: tuple[PageObservation, ...] = ()


class UnfinishedCapture(Struct, frozen=True, kw_only=True):
    """Why a capture was cut short, and what is missing."""

    why: str
    not_visited: int
    not_revisited: int
    not_discovered: int | None = None
    """An estimate; None if all pages were known."""


class CertifiedCapture(Struct, frozen=True, kw_only=True):
    """All that a certificate states about a capture, before the archive is packed."""

    capture: str
    software: str
    title: str
    site: str
    """The origin of the start URL: certificates of one site form a chain."""
    policy: CapturePolicy
    histories: Sequence[PageHistory]
    outcome: CaptureOutcome
    requisites: Sequence[ObservedUrl] = ()
    others: Sequence[ObservedUrl] = ()
    """URLs that are neither pages nor requisites, such as the targets of redirects to other sites."""
    unfinished: UnfinishedCapture | None = None


class ChainLink(Struct, frozen=True, kw_only=True):
    """The place of a certificate in the chain of its site."""

    sequence: int = 1
    previous_capture: str = ""
    """The id of the capture before; empty for the first."""
    previous_sha256: str = ""
    """The SHA-256 (hex) of its certificate."""


class PackedArchive(Struct, frozen=True, kw_only=True):
    """The contents of the package, as digests."""

    records: Mapping[str, str]
    """WARC-Record-ID -> SHA-256 of the whole record, for every record."""
    captures: Sequence[str]
    """The ids of those that are responses, revisits or resources."""
    files: Mapping[str, str]
    """Path in the WACZ -> `sha256:…`, for all files but the certificate and the description of the package."""


def certify(subject: CertifiedCapture, archive: PackedArchive, link: ChainLink, *, issued: float) -> dict[str, Any]:
    """The certificate as plain data."""
    outcome, policy = subject.outcome, subject.policy
    instant = outcome.instant
    judged = {entry.url: judged_requisite(entry.observations, instant) for entry in subject.requisites}
    requisites = [
        _observed(entry.url, entry.observations) | {"verdict": judged[entry.url].verdict, "why": judged[entry.url].why}
        for entry in subject.requisites
    ]
    states = {url: requisite.as_part for url, requisite in judged.items()}
    states |= {history.url: page_as_part(page) for history, page in zip(subject.histories, outcome.pages, strict=True)}
    pages = [
        _page(history, page, policy, states) for history, page in zip(subject.histories, outcome.pages, strict=True)
    ]
    unfinished = subject.unfinished
    previous = {"capture": link.previous_capture, "certificate": f"sha256:{link.previous_sha256}"}
    return {
        "type": TYPE,
        "version": VERSION,
        "capture": subject.capture,
        "software": subject.software,
        "issued": iso(issued),
        "title": subject.title,
        "main_page": policy.seeds[0],
        "site": subject.site,
        "previous": previous if link.previous_capture else None,
        "sequence": link.sequence,
        "policy": _policy(policy),
        "instant": {"from": iso(instant.start), "to": iso(instant.end)} if instant else None,
        "counts": _counts(subject, pages),
        "pages": pages,
        "requisites": requisites,
        "others": [_observed(entry.url, entry.observations) for entry in subject.others],
        "archive": {
            "records": len(archive.records),
            "sha256": records_digest(archive.records),
            "originals": sorted(set(archive.captures) - _named(subject)),
            "files": dict(archive.files),
        },
        "unfinished": msgspec.to_builtins(unfinished) if unfinished is not None else None,
        "statement": _statement(policy),
    }


def encoded(certificate: dict[str, Any]) -> bytes:
    """The bytes of the certificate's file."""
    return msgspec.json.format(msgspec.json.encode(certificate, order="sorted"), indent=1)


def records_digest(records: Mapping[str, str]) -> str:
    """One digest of all records: SHA-256 of the sorted lines `id sha256`."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(records.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def changed_and_back(rate_per_day: float, shape: float | None, span_s: float, reversion: float) -> float:
    """The probability that a page with equal contents at both ends changed and changed back in between."""
    changes = max(0.0, rate_per_day) * max(0.0, span_s) / DAY_S
    unchanged = math.exp(-changes if shape is None else -shape * math.log1p(changes / shape))
    reverted = (1.0 - unchanged) * min(1.0, max(0.0, reversion))
    return reverted / (unchanged + reverted) if reverted else 0.0


def _page(
    history: PageHistory, page: JudgedPage, policy: CapturePolicy, states: Mapping[str, CompositeState]
) -> dict[str, Any]:
    visit = history.observations[page.visit] if page.visit is not None else None
    revisit = history.observations[page.revisit] if page.revisit is not None else None
    is_sharp = page.verdict == "sharp"
    ends = [seen for seen in (visit, revisit) if seen is not None]
    span_s = revisit.started - visit.ended if visit is not None and revisit is not None else 0.0
    rate_per_day = history.rate_per_s * DAY_S
    reverted = changed_and_back(rate_per_day, history.rate_shape, span_s, policy.reversion)
    interval = interval_of(history.rate_per_s, history.rate_shape, policy.tau)
    composite = composite_page(history.parts, states) if is_sharp and policy.sharp else None
    return _observed(history.url, history.observations) | {
        "verdict": page.verdict,
        "why": page.why,
        "visit": page.visit,
        "revisit": page.revisit,
        "compared": list(visit.compared(policy.layer)) if visit is not None else [],
        "equal": equal_layers(visit, revisit) if visit is not None and revisit is not None else {},
        "rules": history.rules,
        "cached": any(seen.is_cached for seen in ends),
        "script_shell": any(seen.script_shell for seen in ends),
        "parts": list(history.parts),
        "composite": _composite(composite),
        "weight": decimal(history.weight),
        "rate_per_day": decimal(rate_per_day),
        "rate_from": history.rate_from,
        "rate_shape": None if history.rate_shape is None else decimal(history.rate_shape),
        "interval_s": decimal(interval) if math.isfinite(interval) else None,
        "expected": decimal(history.expected),
        "changed_and_back": decimal(reverted) if is_sharp else None,
    }


def _composite(page: CompositePage | None) -> dict[str, Any] | None:
    return None if page is None else dict(msgspec.to_builtins(page))


def _observed(url: str, observations: Sequence[PageObservation]) -> dict[str, Any]:
    return {"url": url, "observations": [_observation(seen) for seen in observations]}


def _observation(seen: PageObservation) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(seen)
    if seen.last_modified is not None:
        plain["last_modified"] = iso(seen.last_modified)
    return plain | {"started": iso(seen.started), "ended": iso(seen.ended), "status": seen.status}


def _counts(subject: CertifiedCapture, pages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    verdicts = Counter(page["verdict"] for page in pages)
    sharp = [page for page in pages if page["verdict"] == "sharp"]
    composites = Counter(page["composite"]["verdict"] for page in sharp if page["composite"] is not None)
    return {
        "pages": len(pages),
        **{verdict: verdicts[verdict] for verdict in PAGE_VERDICTS},
        "sharp_by": {layer: _sharp_by(subject, layer) for layer in _COUNTED_LAYERS},
        "cached": sum(page["cached"] for page in sharp),
        "script_shells": sum(page["script_shell"] for page in sharp),
        "expected_sharp": decimal(sum(history.expected for history in subject.histories)),
        "requisites": len(subject.requisites),
        "composite": {state: composites[state] for state in ("sharp", "coherent", "violative", "unknown")},
    }


def _sharp_by(subject: CertifiedCapture, layer: str) -> int:
    """The number of pages that are sharp at the instant of the capture if another layer decides."""
    instant = subject.outcome.instant
    judged = (judged_page(history.observations, instant, layer) for history in subject.histories)
    return sum(page.verdict == "sharp" for page in judged)


def _named(subject: CertifiedCapture) -> set[str]:
    """The ids of all records that observations name."""
    lists: list[Sequence[PageObservation]] = [history.observations for history in subject.histories]
    lists += [entry.observations for entry in (*subject.requisites, *subject.others)]
    return {name for seen in lists for one in seen for name in (one.record, one.rendered, one.view) if name}


def _policy(policy: CapturePolicy) -> dict[str, Any]:
    plain = msgspec.to_builtins(policy)
    return {name: decimal(value) if isinstance(value, float) else value for name, value in plain.items()}


def decimal(value: float) -> str:
    """A number as a decimal string with at most nine digits after the point."""
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return text or "0"


_MEANING = {
    "visible": "the whole visible text and all links of pages, and the bytes of other files",
    "raw": "the bytes",
    "links": "the links of pages, and the bytes of other files",
    "main": "the useful content of pages; text around it may have changed",
    "data": "the canonical data, where a file has any, else the whole visible text and links",
    "selected": "the part of each page that its rules select, else the whole visible text and links",
    "auto": "for each page what decides about its changes: its rules, its canonical data or its useful content",
}


def _statement(policy: CapturePolicy) -> str:
    how = "requested again (conditional requests count)" if policy.conditional_requests else "downloaded again"
    rendered = ", after its scripts ran in a browser," if policy.rendered else ""
    return (
        f"Every page called sharp was downloaded before the instant and {how} after it, and every response of this "
        f"page around the instant{rendered} had the same status and the same content by the layer {policy.layer!r}: "
        f"{_MEANING[policy.layer]}. (One page may have been downloaded once: its download then is the instant.) This "
        "proves equal content at both ends. It does not prove that a page was never another in between: "
        "`changed_and_back` is the modelled chance that it changed and changed back, from its rate of change and the "
        "share of changes that bring an earlier content back. Pages marked as cached were served by a cache with a "
        "copy older than the request. Times are those of the archiver's clock."
    )
