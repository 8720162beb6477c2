"""The plans of the passes of a sharp capture after its visits: the revisits, and further passes for blurred pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from webstrata.flows.capture.events import PassPlanned
from webstrata.flows.capture.state import CaptureState, survival_of
from webstrata.sharp.belief import evidence, gamma_belief
from webstrata.sharp.passes import PassPages, RevisitPass, further_pass, in_order, revisits
from webstrata.sharp.proof.capture_outcome import PageHistory
from webstrata.sharp.rates import POPULATION, RatePrior
from webstrata.sharp.survival import GammaSurvival, Survival

_MIN_RATE_PER_S = 1e-12
"""A page with the rate 0 may still change after it was seen to change."""


def first_revisits(state: CaptureState) -> PassPlanned:
    """Revisits of all visited pages except the one visited last, whose download is the instant."""
    pages = state.visited()
    if not pages:
        return PassPlanned(pass_number=1, instant=0.0, order=(), chances={})
    last = max(pages, key=lambda page: page.contents[-1].started)
    middle = last.contents[-1]
    instant = (middle.started + middle.ended) / 2
    others = [page for page in pages if page is not last]
    if not others:
        return PassPlanned(pass_number=1, instant=instant, order=(), chances={last.url: 1.0})
    elapsed_s = [max(0.0, instant - page.contents[-1].started) for page in others]
    pass_pages = _pass_pages(state, others, survival_of(others))
    schedule = state.started.order.schedule
    if schedule is None:
        plan = revisits(pass_pages, elapsed_s)
    else:
        index_of = {url: index for index, url in enumerate(schedule.revisits)}
        plan = in_order(pass_pages, elapsed_s, sorted(range(len(others)), key=lambda row: index_of[others[row].url]))
    order, chances = _urls(others, plan.after), _chances(others, plan) | {last.url: 1.0}
    return PassPlanned(pass_number=1, instant=instant, order=order, chances=chances)


def next_pass(state: CaptureState, now: float) -> PassPlanned | None:
    """A further pass around a new instant; None if all pages that can be downloaded are sharp."""
    judged = zip(state.pages.values(), state.outcome().pages, strict=True)
    sharp = {page.url for page, verdict in judged if verdict.verdict == "sharp"}
    requested = (page for page in state.pages.values() if page.observations or page.url in state.appeared)
    pages = [page for page in requested if not state.is_refused(page.url)]
    blurred = [row for row, page in enumerate(pages) if page.url not in sharp]
    failing = [row for row in blurred if not _has_content(pages[row])]
    only_failing = len(blurred) == len(failing)
    if not blurred or (only_failing and _were_probed(state, _urls(pages, failing))):
        return None
    elapsed_s = [now - page.contents[-1].started if page.contents else 0.0 for page in pages]
    pass_pages = _pass_pages(state, pages, _posterior_survival(state, pages))
    plan = further_pass(pass_pages, elapsed_s, blurred)
    before = plan.before or tuple(failing)
    return PassPlanned(
        pass_number=state.pass_number + 1,
        instant=now + float(pass_pages.durations_s[list(before)].sum()),
        order=_urls(pages, (*before, *plan.after)),
        chances=_chances(pages, plan),
        failing=_urls(pages, failing),
        only_failing=only_failing,
    )


def _has_content(page: PageHistory) -> bool:
    """Whether the last request for the page brought a content or a redirect."""
    return bool(page.observations) and page.observations[-1].kind in ("content", "redirect")


def _were_probed(state: CaptureState, urls: Sequence[str]) -> bool:
    """Whether the last pass was made for these pages alone: none of them had content."""
    last = state.plans[-1] if state.plans else None
    return last is not None and last.only_failing and set(urls) <= set(last.failing)


def _pass_pages(state: CaptureState, pages: Sequence[PageHistory], survival: Survival) -> PassPages:
    return PassPages(survival, np.array([page.weight for page in pages]), np.array(state.slots_s(pages)))


def _posterior_survival(state: CaptureState, pages: Sequence[PageHistory]) -> Survival:
    """The survival after the changes that this capture itself observed."""
    span_s = 2.0 * sum(state.slots_s(pages))
    beliefs = [_posterior(page, span_s, state.started.order.layer) for page in pages]
    return GammaSurvival([belief.shape for belief in beliefs], [belief.exposure_s for belief in beliefs])


def _posterior(page: PageHistory, span_s: float, layer: str) -> RatePrior:
    shape = page.rate_shape or POPULATION.shape
    prior = RatePrior(shape, shape / max(page.rate_per_s, _MIN_RATE_PER_S))
    contents = page.contents
    if len(contents) < 2:
        return prior
    at = [seen.started for seen in contents]
    changed = [before.key(layer) != after.key(layer) for before, after in pairwise(contents)]
    return gamma_belief(prior).after(evidence(at, changed, at[-1])).as_gamma(span_s)


def _urls(pages: Sequence[PageHistory], rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(pages[row].url for row in rows)


def _chances(pages: Sequence[PageHistory], plan: RevisitPass) -> dict[str, float]:
    return {page.url: float(chance) for page, chance in zip(pages, plan.chances, strict=True)}
