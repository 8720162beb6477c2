"""How many pages a site has that are not found yet, guessed from how many new ones the latest visits found.

If a visit finds y new pages in the mean, and those find y each in turn, f waiting pages lead to f (y + y^2 + …) more.
While y is 1 or above there is no telling; the site is then taken to be twice what is known of it, and never more.
"""

from __future__ import annotations

import msgspec

_LATEST = 0.25
"""The part of the visits that tells how many new pages the next ones will find."""
_LEAST = 20
_GROWTH = 1.0


class SiteSize(msgspec.Struct):
    found: list[int] = msgspec.field(default_factory=list)
    """New pages by visit."""

    def learn(self, new: int) -> None:
        """A page was visited and named this many pages for the first time."""
        self.found.append(new)

    def unknown(self, waiting: int, known: int) -> int:
        """Pages still to be found, with so many waiting to be visited and so many known in all."""
        if not self.found:
            return round(_GROWTH * known)
        latest = self.found[-max(_LEAST, round(len(self.found) * _LATEST)) :]
        each = sum(latest) / len(latest)
        most = round(_GROWTH * known)
        return most if each >= 1.0 else min(most, round(waiting * each / (1.0 - each)))
