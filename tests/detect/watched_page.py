"""A watched page without a crawler: each visit is judged and remembered as in the crawl loop."""

from __future__ import annotations

import numpy as np

from webstrata.columns import RUN
from webstrata.detect.memory import PageMemory, pack, remember, unpack
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.verdict import judge
from webstrata.observe.kernel.python_links import link_hashes
from webstrata.observe.text_runs import excerpts_of, runs_of
from webstrata.records import Change, Fingerprint, Observation


class WatchedPage:
    """The memory of a page, visit by visit."""

    def __init__(self) -> None:
        self.counted: tuple[int, ...] = ()
        self._packed = b""
        self.fingerprint: Fingerprint | None = None

    def visit(self, lines: list[str], at: float, links: np.ndarray | None = None, title: str = "") -> Change:
        """Visit the page when it has these lines, and `links` as rows of `RUN`."""
        body = "\n".join(lines)
        linked = np.array([], dtype=RUN) if links is None else links
        parts = (title, "", body, "", "", body)
        now = Fingerprint(raw=body + str(linked), size=len(body), text=body, parts=parts, main_links=str(linked))
        runs = runs_of(title, body) + linked.tobytes()
        seen = Observation(
            url="https://a.test/",
            at=at,
            status=200,
            fingerprint=now,
            lines=runs,
            link_hashes=link_hashes(()),
            excerpts=excerpts_of([body], self.memory.runs),
        )
        memory = self.memory
        change = judge(self.fingerprint, False, seen, memory=memory)
        self._packed = pack(remember(memory, self.fingerprint, seen, change))
        self.fingerprint = now
        return change

    @property
    def memory(self) -> PageMemory:
        return unpack(self._packed, self.counted)

    @property
    def learned(self) -> list[NoisyPlace]:
        return [place for place in self.memory.noise if place.state == "learned"]
