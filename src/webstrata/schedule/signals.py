"""What hints say about pages, as columns beside their rows.

A signal moves the schedule and never counts as a change. Each source enters with what has been learned of it; the
policy weighs it against its own forecast, so a source that is not to be believed changes nothing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Column, Days, Flags


class Hint(Struct, frozen=True, kw_only=True):
    """One kind of source over all rows asked: the list of each page's site, or the reports of its visitors."""

    covered_days: Days
    """How much of the time since the last visit the source has looked at; 0: nothing new from it."""
    unchanged: Column
    """Probability, without any hint, that the page did not change in that time."""
    told: Flags
    """It told of a change since the last visit."""
    recall: Column
    false_per_day: Column


class Signals(Struct, frozen=True, kw_only=True):
    """All hints about some rows. None: nothing is known."""

    quiet: Column | None = None
    """Probability that no event of the whole site touched the page since its last visit."""
    coming: Column | None = None
    """The same for a day to come."""
    hints: tuple[Hint, ...] = ()


NOTHING = Signals()


def changed_given(unchanged: Column, hints: tuple[Hint, ...]) -> Column:
    """Probability that pages changed, of which the forecast alone says `unchanged`, given what the hints say."""
    for_change = 1.0 - unchanged
    against = unchanged
    for hint in hints:
        share = np.clip((1.0 - hint.unchanged) / np.maximum(1.0 - unchanged, 1e-6), 0.0, 1.0)
        heard = hint.recall * share  # a change, if there was one, would have been told
        alarm = -np.expm1(-hint.false_per_day * hint.covered_days)
        by_chance = np.where(hint.told, np.maximum(alarm, 1e-6), 1.0)
        because = np.where(hint.told, heard + (1.0 - heard) * alarm, 1.0 - heard)
        known = hint.covered_days > 0
        for_change = np.where(known, for_change * because, for_change)
        against = np.where(known, against * by_chance, against)
    probability: Column = (for_change / np.maximum(for_change + against, 1e-30)).astype(np.float32)
    return probability
