"""The plans of the passes of a sharp capture after its visits: the revisits, and further passes for blurred pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from webstrata.flows.capture.events import PassPlanned
from webstrata.flows.capture.state import CaptureState, survival_of
from webstrata.sharp.belief import evidence, gamma_belief
from webstrata.sharp.passes import PassPages, RevisitPass, further_pass, in_order, revisits
from webstrata.sharp.proof.capture_outcome import PageDownloads
from webstrata.sharp.rates import POPULATION, RatePrior
from webstrata.sharp.survival import GammaSurvival, Survival

_MIN_RATE_PER_S = 1e-12
"""A page with the rate 0 may still change after it was seen to change."""


def first_revisits(state: CaptureState) -> PassPlanned:
    """Revisits of all visited pages except the one visited last, whose download is the instant."""
    pages = state.visited()
    if not pages:
        return PassPlanned(pass_number=1, instant=0.0, order=(), chances={})
    last = max(pages, key=lambda page: page.downloads[-1].started)
    middle = last.downloads[-1]
    instant = (middle.started + middle.ended) / 2
    others = [page for page in pages if page is not last]
    if not others:
        return PassPlanned(pass_number=1, instant=instant, order=(), chances={last.url: 1.0})
    elapsed_s = [max(0.0, instant - page.downloads[-1].started) for page in others]
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
    outcome = state.outcome()
    sharp_indices = set(outcome.instant.pages) if outcome.instant is not None else set()
    sharp = {page.url for index, page in enumerate(state.pages.values()) if index in sharp_indices}
    pages = [page for page in state.pages.values() if page.downloads or page.url in state.appeared]
    blurred = [row for row, page in enumerate(pages) if page.url not in sharp]
    if not blurred:
        return None
    never_downloaded = [row for row in blurred if not pages[row].downloads]
    elapsed_s = [now - page.downloads[-1].started if page.downloads else 0.0 for page in pages]
    pass_pages = _pass_pages(state, pages, _posterior_survival(state, pages))
    plan = further_pass(pass_pages, elapsed_s, blurred)
    before = plan.before or tuple(never_downloaded)
    return PassPlanned(
        pass_number=state.pass_number + 1,
        instant=now + float(pass_pages.durations_s[list(before)].sum()),
        order=_urls(pages, (*before, *plan.after)),
        chances=_chances(pages, plan),
    )


def _pass_pages(state: CaptureState, pages: Sequence[PageDownloads], survival: Survival) -> PassPages:
    return PassPages(survival, np.array([page.weight for page in pages]), np.array(state.slots_s(pages)))


def _posterior_survival(state: CaptureState, pages: Sequence[PageDownloads]) -> Survival:
    """The survival after the changes that this capture itself observed."""
    span_s = 2.0 * sum(state.slots_s(pages))
    beliefs = [_posterior(page, span_s) for page in pages]
    return GammaSurvival([belief.shape for belief in beliefs], [belief.exposure_s for belief in beliefs])


def _posterior(page: PageDownloads, span_s: float) -> RatePrior:
    shape = page.rate_shape or POPULATION.shape
    prior = RatePrior(shape, shape / max(page.rate_per_s, _MIN_RATE_PER_S))
    if len(page.downloads) < 2:
        return prior
    at = [download.started for download in page.downloads]
    changed = [before.content != after.content for before, after in pairwise(page.downloads)]
    return gamma_belief(prior).after(evidence(at, changed, at[-1])).as_gamma(span_s)


def _urls(pages: Sequence[PageDownloads], rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(pages[row].url for row in rows)


def _chances(pages: Sequence[PageDownloads], plan: RevisitPass) -> dict[str, float]:
    return {page.url: float(chance) for page, chance in zip(pages, plan.chances, strict=True)}
