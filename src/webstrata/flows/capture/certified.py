"""`certified_capture`: what the certificate of a capture states, from the state of the capture."""

from __future__ import annotations

from webstrata import urls
from webstrata.flows.capture.events import CaptureStarted
from webstrata.flows.capture.state import CaptureState
from webstrata.sharp.proof.certificate import CapturePolicy, CertifiedCapture, ObservedUrl, UnfinishedCapture

_MAX_PARTS = 10_000
"""Files of one page, with the files of its style sheets."""


def certified_capture(state: CaptureState, *, software: str, stopped: str) -> CertifiedCapture:
    """The subject of the certificate. `stopped`: why the capture ended early; empty if it did not."""
    started = state.started
    outcome = state.outcome()
    for page in state.pages.values():
        page.parts = page_parts(state, page.url)
    requisites = [url for url in state.requisites if url not in state.pages]
    known = {*state.pages, *requisites}
    return CertifiedCapture(
        capture=started.capture,
        software=software,
        title=f"{started.order.url}, captured {started.capture[:8]}",
        site=urls.origin(started.order.url),
        policy=_policy(started),
        histories=list(state.pages.values()),
        outcome=outcome,
        requisites=[_entry(state, url) for url in requisites],
        others=[_entry(state, url) for url, seen in state.observed.items() if seen and url not in known],
        unfinished=_unfinished(state, stopped),
    )


def page_parts(state: CaptureState, url: str) -> list[str]:
    """The files that a page loads, and those to which its style sheets and other files refer; pages end the search."""
    parts: dict[str, None] = {}
    pending = [*state.files.get(url, ())]
    while pending and len(parts) < _MAX_PARTS:
        part = pending.pop(0)
        if part in parts or part == url:
            continue
        parts[part] = None
        if part not in state.pages:
            pending += state.files.get(part, ())
    return list(parts)


def _entry(state: CaptureState, url: str) -> ObservedUrl:
    return ObservedUrl(url=url, observations=tuple(state.observed.get(url, ())))


def _unfinished(state: CaptureState, stopped: str) -> UnfinishedCapture | None:
    not_visited = state.not_visited()
    if not stopped and not not_visited:
        return None
    return UnfinishedCapture(
        why=stopped or "there was no time to visit all pages",
        not_visited=not_visited,
        not_revisited=state.not_revisited() if stopped else 0,
        not_discovered=state.not_discovered(),
    )


def _policy(started: CaptureStarted) -> CapturePolicy:
    order = started.order
    algorithm = "single pass" if not order.sharp else "optimal" if order.pages_known else "optimal-online"
    return CapturePolicy(
        algorithm=order.schedule.algorithm if order.schedule is not None else algorithm,
        layer=order.layer,
        tau=order.tau,
        delay_s=started.slot_s,
        scope=order.scope,
        seeds=(order.url,),
        sharp=order.sharp,
        conditional_requests=order.conditional,
        rendered=order.render,
        repair=order.repair,
        requisites=order.max_requisites > 0,
        reversion=started.reversion,
    )
