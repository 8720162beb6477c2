"""The passes of a sharp capture after its visits: when is it worth while, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from webstrata.flows.capture.events import PassPlanned
from webstrata.flows.capture.state import CaptureState, survival_of
from webstrata.sharp.proof.capture_outcome import PageDownloads
from webstrata.sharp.rates import POPULATION
from webstrata.sharp.passes import PassPages
from webstrata.sharp.passes import RevisitPass
from webstrata.sharp.passes import further_pass
from webstrata.sharp.passes import in_order
from webstrata.sharp.passes import revisits
from webstrata.sharp.survival import GammaSurvival, Survival

_COLDEST = 1e-12
"""Changes per second: a page that never changed may, once it was seen to."""


def first_revisits(state: CaptureState) -> PassPlanned:
    """All visited pages again, but for the one that was visited last: its download is the instant."""
    pages = state.visited()
    if not pages:
        return PassPlanned(turn=1, instant=0.0, order=(), chances={})
    last = max(pages, key=lambda page: page.downloads[-1].started)
    middle = last.downloads[-1]
    instant = (middle.started + middle.ended) / 2
    others = [page for page in pages if page is not last]
    if not others:
        return PassPlanned(turn=1, instant=instant, order=(), chances={last.url: 1.0})
    heads = [max(0.0, instant - page.downloads[-1].started) for page in others]
    tour = _tour(state, others, survival_of(others))
    ready = state.began.order.ready
    if ready is None:
        plan = revisits(tour, heads)
    else:
        place_of = {url: place for place, url in enumerate(ready.revisits)}
        plan = in_order(tour, heads, sorted(range(len(others)), key=lambda place: place_of[others[place].url]))
    order, chances = _names(others, plan.after), _chances(others, plan) | {last.url: 1.0}
    return PassPlanned(turn=1, instant=instant, order=tuple(order), chances=chances)


def next_pass(state: CaptureState, now: float) -> PassPlanned | None:
    """A further pass round a new instant; none where all pages that can be had are sharp."""
    result = state.outcome()
    verdicts = set(result.instant.pages) if result.instant is not None else set()
    pages = [page for page in state.pages.values() if page.downloads or page.url in state.appeared]
    sharp = {page.url for place, page in enumerate(state.pages.values()) if place in verdicts}
    blurred = [place for place, page in enumerate(pages) if page.url not in sharp]
    if not blurred:
        return None
    never = [place for place in blurred if not pages[place].downloads]
    heads = [now - page.downloads[-1].started if page.downloads else 0.0 for page in pages]
    tour = _tour(state, pages, _seen_survival(pages))
    plan = further_pass(tour, heads, blurred)
    before = plan.before or tuple(never)
    return PassPlanned(
        turn=state.turn + 1,
        instant=now + float(tour.lasts_s[list(before)].sum()),
        order=tuple(_names(pages, (*before, *plan.after))),
        chances=_chances(pages, plan),
    )


def _tour(state: CaptureState, pages: Sequence[PageDownloads], survival: Survival) -> PassPages:
    return PassPages(survival, np.array([page.weight for page in pages]), np.array(state.slots_s(pages)))


def _seen_survival(pages: Sequence[PageDownloads]) -> Survival:
    """With what this capture itself saw of the pages: one that was found changed may well change again."""
    shapes, exposures = [], []
    for page in pages:
        prior_shape = page.rate_shape or POPULATION.shape
        changes = sum(before.content != after.content for before, after in pairwise(page.downloads))
        observed_s = page.downloads[-1].started - page.downloads[0].started if page.downloads else 0.0
        shapes.append(prior_shape + changes)
        exposures.append(prior_shape / max(page.rate_per_s, _COLDEST) + observed_s)
    return GammaSurvival(shapes, exposures)


def _names(pages: Sequence[PageDownloads], places: Sequence[int]) -> list[str]:
    return [pages[place].url for place in places]


def _chances(pages: Sequence[PageDownloads], plan: RevisitPass) -> dict[str, float]:
    return {page.url: float(chance) for page, chance in zip(pages, plan.chances, strict=True)}
