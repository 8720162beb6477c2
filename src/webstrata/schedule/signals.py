"""What hints say about pages, as columns beside their rows.

A signal moves the schedule and never counts as a change. Each source enters with what has been learned of it; the
policy weighs it against its own forecast, so a source that is not to be believed changes nothing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Column, Days, Flags


class SourceHints(Struct, frozen=True, kw_only=True):
    """One kind of source over all rows asked: the list of each page's site, or the reports of its visitors."""

    covered_days: Days
    """How much of the time since the last visit the source has looked at; 0: nothing new from it."""
    unchanged: Column
    """Probability, without any hint, that the page did not change in that time."""
    told: Flags
    """It told of a change since the last visit."""
    precision: Column
    recall: Column


class PageSignals(Struct, frozen=True, kw_only=True):
    """All hints about some rows. None: nothing is known."""

    quiet: Column | None = None
    """Probability that no event of the whole site touched the page since its last visit."""
    coming: Column | None = None
    """The same for a day to come."""
    hints: tuple[SourceHints, ...] = ()


NOTHING = PageSignals()


def changed_given(unchanged: Column, hints: tuple[SourceHints, ...]) -> Column:
    """Probability that pages changed, of which the forecast alone says `unchanged`, given what the hints say.

    A page that is told of is unchanged with `unchanged` times 1 - precision. Silence takes the share `recall` of the
    chance that it changed while the source was looking. One hint after the other, as if they did not know each other.
    """
    odds = (1.0 - unchanged) / np.maximum(unchanged, 1e-9)
    for hint in hints:
        before = np.maximum(1.0 - unchanged, 1e-9)
        silent = 1.0 - hint.recall * np.minimum((1.0 - hint.unchanged) / before, 1.0)
        doubt = 1.0 - hint.precision
        told = (1.0 - unchanged * doubt) / (before * np.maximum(doubt, 1e-6))
        odds = odds * np.where(hint.told, told, np.where(hint.covered_days > 0, silent, 1.0))
    probability: Column = (odds / (1.0 + odds)).astype(np.float32)
    return probability
