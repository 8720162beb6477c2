"""The number of downloads that a budgeted policy gets for each corpus of an experiment."""

from __future__ import annotations

import re

from msgspec import Struct

from webstrata.errors import UsageError

_NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<page>(?:/page)?)(?P<unit>|/day|/week|/year)")
_SHARE = re.compile(r"(?P<share>\d+(?:\.\d+)?)x(?::(?P<match>.+))?")
_UNIT_DAYS = {"/day": 1.0, "/week": 7.0, "/year": 365.0}
_DEFAULT_MATCH = "state-2"


class DownloadAllowance(Struct, frozen=True, kw_only=True):
    """The downloads of another policy, a share of them, or a fixed number."""

    match: str | None = None
    share: float = 1.0
    total: float = 0.0
    per_page: str = ""
    """The text of an allowance for each page; `total` is then that of one page."""

    @property
    def label(self) -> str:
        """The name of the allowance in the result rows."""
        if self.match is None:
            return self.per_page or f"{self.total:g}"
        return self.match if self.share == 1.0 else f"{self.share:g}x:{self.match}"

    def downloads(self, matched: int, pages: int) -> float:
        """The downloads on a corpus of so many pages, on which the matched policy has `matched` downloads."""
        if self.match is not None:
            return self.share * matched
        return self.total * pages if self.per_page else self.total


def parse_allowance(text: str, days: float) -> DownloadAllowance:
    """`9000` downloads in the window, `50/day`, `200/week`, `5000/year`, `4/page/day`, or `0.5x:dyn`, half of those of
    `dyn` (`0.5x`: of state-2); for each corpus."""
    if match := _NUMBER.fullmatch(text.strip()):
        unit = match["unit"]
        total = float(match["number"]) * (days / _UNIT_DAYS[unit] if unit else 1.0)
        return DownloadAllowance(total=total, per_page=text.strip() if match["page"] else "")
    if match := _SHARE.fullmatch(text.strip()):
        return DownloadAllowance(match=match["match"] or _DEFAULT_MATCH, share=float(match["share"]))
    raise UsageError(f"no budget {text!r}. Write 9000, 50/day, 200/week, 5000/year, 4/page/day, or 0.5x:dyn.")
