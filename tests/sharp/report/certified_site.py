"""Certificates of a small site for tests of reports, with every verdict, made as captures make them."""

from __future__ import annotations

import hashlib
from typing import Any

from webstrata.clock import parse_instant
from webstrata.sharp.proof.capture_outcome import PageHistory, capture_outcome
from webstrata.sharp.proof.certificate import (
    CapturePolicy,
    CertifiedCapture,
    ChainLink,
    ObservedUrl,
    PackedArchive,
    UnfinishedCapture,
    certify,
)
from webstrata.sharp.proof.page_observation import ObservationKind, PageObservation

SITE = "https://example.org"
START = parse_instant("2026-11-18T10:17:00Z")


def seen(
    at_s: float, words: str, *, status: int = 200, kind: ObservationKind = "content", **more: Any
) -> PageObservation:
    """A download of half a second, so many seconds after the start of the capture."""
    digest = hashlib.sha256(words.encode()).hexdigest()
    layers = {"raw": digest, "visible_text": digest, "links": digest} if kind == "content" else {}
    record = f"urn:uuid:{hashlib.sha256(f'{at_s} {words}'.encode()).hexdigest()[:32]}" if status else ""
    content_type = "text/html; charset=utf-8" if status else ""
    given: dict[str, Any] = {"layers": layers, "record": record, "content_type": content_type} | more
    return PageObservation(started=START + at_s, ended=START + at_s + 0.5, kind=kind, status=status, **given)


def failed(at_s: float, why: str) -> PageObservation:
    """A request without response."""
    return seen(at_s, "", status=0, kind="failure", why=why)


def history(path: str, *observations: PageObservation, **more: Any) -> PageHistory:
    """A page of the site."""
    url = path if "://" in path or path.startswith("javascript:") else SITE + path
    return PageHistory(url=url, rate_per_s=1e-7, expected=0.95, observations=list(observations), **more)


def pages() -> list[PageHistory]:
    """Pages of every kind."""
    raw_a, raw_b = ({"raw": name * 64, "visible_text": "c" * 64, "links": "d" * 64} for name in "ab")
    return [
        history("/", seen(0, "home"), seen(115, "home"), parts=[f"{SITE}/style.css", f"{SITE}/logo.png"]),
        history("/about", seen(5, "", layers=raw_a), seen(110, "", layers=raw_b), parts=[f"{SITE}/style.css"]),
        history("/cached", seen(10, "c", age_s=60, cache="X-Cache: HIT"), seen(105, "c", age_s=155)),
        history("/app", seen(15, "app", script_shell=True), seen(100, "app", script_shell=True)),
        history("/old", *(seen(at, "", status=301, kind="redirect", target=f"{SITE}/") for at in (20, 95))),
        history("/news", seen(25, "yesterday"), seen(90, "today"), rules={"ignore": ["css:.clock"], "keep": []}),
        history("/gone", *(seen(at, "", status=404, kind="absent") for at in (30, 85))),
        history("/broken", *(seen(at, "", status=500, kind="error", why="status 500") for at in (35, 80))),
        history("/far", *(failed(at, "the server closed the connection") for at in (40, 75))),
        history("/later"),
        history("/middle", seen(45, "m"), seen(57, "m")),
    ]


def requisites() -> list[ObservedUrl]:
    """Files: one that was modified after the instant, one that is coherent."""
    css = seen(120, "css", content_type="text/css", last_modified=START + 118)
    png = seen(121, "png", content_type="image/png", last_modified=START - 9e6)
    return [
        ObservedUrl(url=f"{SITE}/style.css", observations=(css,)),
        ObservedUrl(url=f"{SITE}/logo.png", observations=(png,)),
    ]


def certificate(
    histories: list[PageHistory] | None = None,
    *,
    title: str = "Example: the handbook",
    policy: dict[str, Any] | None = None,
    unfinished: UnfinishedCapture | None = None,
) -> dict[str, Any]:
    """A certificate of these pages, or of pages of every kind."""
    given: dict[str, Any] = {"algorithm": "solar-online", "layer": "visible", "tau": 0.9, "delay_s": 5.0}
    given |= {"scope": "prefix", "seeds": (f"{SITE}/",), "reversion": 0.1} | (policy or {})
    rows = pages() if histories is None else histories
    subject = CertifiedCapture(
        capture="20261118101700-example",
        software="webstrata 1.0",
        title=title,
        site=SITE,
        policy=CapturePolicy(**given),
        histories=rows,
        outcome=capture_outcome(rows, given["layer"]),
        requisites=requisites(),
        others=[ObservedUrl(url="https://other.example/", observations=(seen(21, "other"),))],
        unfinished=unfinished,
    )
    files = {"archive/data.warc.gz": "sha256:" + "0" * 64}
    archive = PackedArchive(records={"urn:uuid:1": "1" * 64}, captures=[], files=files)
    return certify(subject, archive, ChainLink(), issued=START + 130)
