"""The range of a figure that was learned as noise, and jumps out of it: a jump is a change.

| figure so far | new figure | jump |
|---|---|---|
| greater than 0 | 0 or less | yes |
| only grew | grew by more than three times the largest step, or the largest rate times the elapsed time | yes |
| only grew | grew as before, however long the pause | no |
| went up and down | beyond the range by more than three times the largest step | yes |
| went up and down | less than a tenth of the smallest, more than ten times the largest | yes |

After a jump the range starts anew at the new figure, so that the way back is a jump too. From the third jump on the
range is only widened: such a figure is reset regularly.
"""

from __future__ import annotations

from math import isnan

from msgspec import Struct
from msgspec.structs import replace

_STEPS = 3.0
_MAGNITUDE = 10.0
_MAX_JUMPS = 3
_ROUNDING = 1e-6
"""Share of a figure that may be lost by rounding to single precision."""


class FigureRange(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The values of a figure at the visits so far."""

    low: float
    high: float
    step: float
    """The largest difference between two visits."""
    rate: float
    """The largest difference between two visits, per second."""
    falls: int = 0
    """Changes to a smaller figure."""
    jumps: int = 0


def is_jump(known: FigureRange | None, old: float, new: float, elapsed_s: float) -> bool:
    """Whether a figure left its range. Nothing is a jump while the range is not known."""
    if known is None or isnan(old):
        return False
    if isnan(new) or (known.low > 0 >= new) or (known.high < 0 <= new):
        return True
    margin = _STEPS * known.step + _ROUNDING * abs(new)
    if not known.falls and new >= old:
        return new - known.high > max(margin, _STEPS * known.rate * elapsed_s)
    if known.low - margin <= new <= known.high + margin:
        return known.low > 0 and not known.low / _MAGNITUDE <= new <= known.high * _MAGNITUDE
    return True


def with_figure(known: FigureRange | None, old: float, new: float, elapsed_s: float) -> FigureRange | None:
    """The range after a change from one figure to another."""
    if isnan(old) or isnan(new):
        return known
    step = abs(new - old)
    rate = step / max(1.0, elapsed_s)
    if known is None:
        return FigureRange(low=min(old, new), high=max(old, new), step=step, rate=rate, falls=int(new < old))
    if is_jump(known, old, new, elapsed_s):
        known = replace(known, jumps=known.jumps + 1)
        if known.jumps < _MAX_JUMPS:
            return replace(known, low=new, high=new)
    return replace(
        known,
        low=min(known.low, new),
        high=max(known.high, new),
        step=max(known.step, step),
        rate=max(known.rate, rate),
        falls=known.falls + (new < old),
    )
