"""What visits cost where the budget is in bytes, and the value of a visit for its cost.

A visit downloads the page, S bytes. A page that answers conditional requests costs only the head of the answer, s
bytes, if it did not change; its body is paid for once per capture. Let w be the worth of a visit in captures
(`value.py`) and p the price of a byte. A capture brings 1 - p (S - s), each visit costs p s, so a visit just pays at

    p = w / (s + (S - s) w)

and at p = w / S if the page is downloaded in full every time. Pages are ranked by p, times the mean size of a page, so
that values stay near those of a budget in visits.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Column, Flags, Rows

HEAD_BYTES = 300.0
"""The head of an answer. Budgets in bytes count bodies only; the head keeps answers without a body from being free."""
USUAL_BYTES = 20_000.0
"""The size of a page that was never seen, if no other page is known."""


class ByteCosts(Struct, frozen=True, kw_only=True):
    """One entry for each page."""

    size: Column
    """Bytes of the last full answer; NaN if it is not known."""
    conditional: Flags
    """The page answered a conditional request with 304."""
    usual: float | None = None
    """The size where it is not known; None: the median of the known ones."""
    mean: float | None = None
    """The unit of ranks; None: the mean size of these pages."""

    def part(self, rows: Rows) -> ByteCosts:
        """The costs of some of the pages, in the unit of all."""
        return ByteCosts(
            size=self.size[rows], conditional=self.conditional[rows], usual=self._usual(), mean=self.unit()
        )

    def sizes(self) -> Column:
        """Sizes with the head."""
        sizes: Column = np.where(np.isfinite(self.size), np.maximum(self.size, 0.0), self._usual()) + HEAD_BYTES
        return sizes

    def unit(self) -> float:
        """The bytes to which ranks refer."""
        return self.mean if self.mean is not None else float(self.sizes().mean()) if len(self.size) else USUAL_BYTES

    def _usual(self) -> float:
        if self.usual is not None:
            return self.usual
        known = self.size[np.isfinite(self.size)]
        return float(np.median(known)) if len(known) else USUAL_BYTES

    def expected(self, changed: Column) -> Column:
        """Expected bytes of a visit, if a page changed with this probability."""
        sizes = self.sizes()
        bytes_: Column = np.where(self.conditional, HEAD_BYTES + (sizes - HEAD_BYTES) * changed, sizes)
        return bytes_

    def per_byte(self, values: Column, factors: Column | float = 1.0) -> Column:
        """Values of visits for their cost, in units of the mean size. `factors`: weights that the values include."""
        worth = np.divide(values, factors, out=np.zeros_like(values), where=np.asarray(factors) > 0)
        ranks: Column = values * (self.unit() / self.expected(np.minimum(worth, 1.0)))
        return ranks.astype(np.float32, copy=False)

    def needed_worth(self, rank: float, factors: Column | float = 1.0) -> Column:
        """The worth at which visits have this rank, the inverse of `per_byte`; infinite if none is enough."""
        fixed = np.where(self.conditional, HEAD_BYTES, self.sizes()) * rank
        per_capture = np.where(self.conditional, self.sizes() - HEAD_BYTES, 0.0) * rank
        gain = np.asarray(factors) * self.unit() - per_capture
        worth: Column = np.divide(fixed, gain, out=np.full(len(fixed), np.inf), where=gain > 0)
        return worth
