"""The certificate of a capture: the downloads of each page and the verdict that follows from them.

A page is `sharp` if it was downloaded before the instant and again after it with the same content. The policy names the
layer that is compared. One page may have been downloaded once; its download is then the instant. All other pages are
`blurred` (two contents, or no second download on the other side of the instant) or `unreachable`. Fractional numbers
are written as decimal strings, so that programs in all languages sign the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S, iso
from webstrata.sharp.proof.coherence import CoveredInstant, UnchangedSpan, best_instant
from webstrata.sharp.schedule import interval_of

TYPE = "webstrata/capture"
VERSION = 1

Verdict = Literal["sharp", "blurred", "unreachable"]


class Download(Struct, frozen=True, kw_only=True):
    """One download of a page, as stored in the archive."""

    started: float
    ended: float
    status: int
    payload: str
    """The payload digest of the WARC record."""
    content: str
    """Name and digest of the compared layer."""
    record: str
    """WARC-Record-ID of the response or revisit record."""


class CapturedPage(Struct, frozen=True, kw_only=True):
    """A page of the capture: its downloads and its expected outcome."""

    url: str
    visit: Download | None = None
    revisit: Download | None = None
    why: str = ""
    """Why the page could not be downloaded, or not again."""
    rate_per_day: float = 0.0
    rate_from: str = ""
    rate_shape: float | None = None
    """Of the Gamma belief about the rate; None if the rate is known exactly."""
    weight: float = 1.0
    expected: float = 0.0
    """The planned probability to be sharp."""

    @property
    def same(self) -> bool:
        """Whether visit and revisit have the same content and status."""
        if self.visit is None or self.revisit is None:
            return False
        return self.visit.content == self.revisit.content and self.visit.status == self.revisit.status


class CapturePolicy(Struct, frozen=True, kw_only=True):
    """The rules of the capture."""

    algorithm: str
    tau: float
    delay_s: float
    layer: str
    scope: str
    seeds: tuple[str, ...]
    sharp: bool = True
    conditional_requests: bool = False
    reversion: float = 0.0
    """The share of changes that restore an earlier content, as observed on this site or assumed."""


def span_of(page: CapturedPage, index: int = 0) -> UnchangedSpan | None:
    """The span in which the page's content is proved: between its two downloads, or during its only one."""
    if page.same and page.visit is not None and page.revisit is not None:
        if page.visit.ended <= page.revisit.started:
            return UnchangedSpan(page=index, start=page.visit.ended, end=page.revisit.started)
        return None
    if page.visit is not None and page.revisit is None:
        return UnchangedSpan(page=index, start=page.visit.started, end=page.visit.ended)
    return None


def joint_instant(pages: Sequence[CapturedPage]) -> CoveredInstant | None:
    """The span in which most pages (by weight) are sharp, and these pages.

    A page that was downloaded once had the downloaded content at an unknown time during the download. So it is sharp
    only if the whole download lies within the spans of the other pages, and the download is then the instant.
    """
    weights = [page.weight for page in pages]
    twice = [span for i, page in enumerate(pages) if page.revisit is not None and (span := span_of(page, i))]
    best = best_instant(twice, weights)
    starts, ends = np.array([span.start for span in twice]), np.array([span.end for span in twice])
    span_weights = np.array([weights[span.page] for span in twice])
    for i, page in enumerate(pages):
        if page.revisit is not None or (only := span_of(page, i)) is None:
            continue
        around = np.flatnonzero((starts <= only.start) & (only.end <= ends))
        weight = float(span_weights[around].sum()) + page.weight
        if best is None or weight > best.weight:
            sharp = tuple(sorted([twice[j].page for j in around] + [i]))
            best = CoveredInstant(start=only.start, end=only.end, weight=weight, pages=sharp)
    return best


def changed_and_back(rate_per_day: float, shape: float | None, span_s: float, reversion: float) -> float:
    """The probability that a page with equal contents at both ends changed and changed back in between."""
    changes = max(0.0, rate_per_day) * max(0.0, span_s) / DAY_S
    unchanged = math.exp(-changes if shape is None else -shape * math.log1p(changes / shape))
    reverted = (1.0 - unchanged) * min(1.0, max(0.0, reversion))
    return reverted / (unchanged + reverted) if reverted else 0.0


def certify(
    pages: Sequence[CapturedPage],
    policy: CapturePolicy,
    *,
    capture: str,
    software: str,
    issued: float,
    records: Mapping[str, str],
    files: Mapping[str, str],
) -> dict[str, Any]:
    """The certificate as plain data, to be signed.

    `records`: WARC-Record-ID -> SHA-256 of the whole record, for every record of the archive. `files`: path in the
    WACZ -> `sha256:…`.
    """
    instant = joint_instant(pages)
    sharp = set(instant.pages) if instant else set()
    documents = [_page(page, i in sharp, instant, policy, records) for i, page in enumerate(pages)]
    verdicts = [document["verdict"] for document in documents]
    return {
        "type": TYPE,
        "version": VERSION,
        "capture": capture,
        "software": software,
        "issued": iso(issued),
        "policy": _policy(policy),
        "instant": {"from": iso(instant.start), "to": iso(instant.end)} if instant else None,
        "counts": {
            "pages": len(documents),
            "sharp": verdicts.count("sharp"),
            "blurred": verdicts.count("blurred"),
            "unreachable": verdicts.count("unreachable"),
            "expected_sharp": _decimal(sum(page.expected for page in pages)),
        },
        "pages": documents,
        "archive": {"records": len(records), "sha256": records_digest(records), "files": dict(files)},
        "statement": _statement(policy),
    }


def records_digest(records: Mapping[str, str]) -> str:
    """One digest of all records: SHA-256 of the sorted lines `id sha256`."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(records.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def canonical(document: Any) -> bytes:
    """The bytes that are signed: JSON without whitespace, with sorted keys and without fractional numbers."""
    return msgspec.json.encode(document, order="sorted")


def _page(
    page: CapturedPage, sharp: bool, instant: CoveredInstant | None, policy: CapturePolicy, records: Mapping[str, str]
) -> dict[str, Any]:
    verdict: Verdict = "sharp" if sharp else "unreachable" if page.visit is None else "blurred"
    span = span_of(page) if verdict == "sharp" else None
    span_s = span.end - span.start if span else 0.0
    reverted = changed_and_back(page.rate_per_day, page.rate_shape, span_s, policy.reversion)
    interval = interval_of(page.rate_per_day / DAY_S, page.rate_shape, policy.tau)
    return {
        "url": page.url,
        "verdict": verdict,
        "why": page.why or _why(page, sharp, instant),
        "visit": _download(page.visit, records),
        "revisit": _download(page.revisit, records),
        "weight": _decimal(page.weight),
        "rate_per_day": _decimal(page.rate_per_day),
        "rate_from": page.rate_from,
        "rate_shape": None if page.rate_shape is None else _decimal(page.rate_shape),
        "interval_s": _decimal(interval) if math.isfinite(interval) else None,
        "expected": _decimal(page.expected),
        "changed_and_back": _decimal(reverted) if sharp else None,
    }


def _why(page: CapturedPage, sharp: bool, instant: CoveredInstant | None) -> str:
    if sharp:
        return "the same content before and after the instant" if page.revisit else "its download is the instant"
    if page.visit is None:
        return "it could not be downloaded"
    if page.revisit is None:
        return "it was downloaded once"
    if page.visit.content != page.revisit.content:
        return "its content changed between visit and revisit"
    if page.visit.status != page.revisit.status:
        return f"its status changed from {page.visit.status} to {page.revisit.status}"
    return "its two downloads do not lie on both sides of the instant" if instant else "no instant is covered"


def _download(download: Download | None, records: Mapping[str, str]) -> dict[str, Any] | None:
    if download is None:
        return None
    return {
        "started": iso(download.started),
        "ended": iso(download.ended),
        "status": download.status,
        "payload": download.payload,
        "content": download.content,
        "record": download.record,
        "record_sha256": records.get(download.record, ""),
    }


def _policy(policy: CapturePolicy) -> dict[str, Any]:
    plain = msgspec.to_builtins(policy)
    return {name: _decimal(value) if isinstance(value, float) else value for name, value in plain.items()}


def _decimal(value: float) -> str:
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return text or "0"


def _statement(policy: CapturePolicy) -> str:
    how = "requested again (conditional requests count)" if policy.conditional_requests else "downloaded again"
    return (
        f"Every page called sharp was downloaded before the instant and {how} after it; both responses had the same "
        f"status and the same content by the layer {policy.layer!r}. (One page may have been downloaded once: its "
        "download then is the instant.) This proves equal content at both ends. It does not prove that a page was "
        "never another in between: `changed_and_back` is the modelled chance that it changed and changed back, from "
        "its rate of change and the share of changes that bring an earlier content back. Times are those of the "
        "archiver's clock."
    )
