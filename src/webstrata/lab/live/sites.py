"""Living-web sites made from change histories: one host per site of the corpus, one page per history.

A page gets a new version at each of its true changes, in the window and in the past days that archives know. The window
starts at `START_AT`, a noon, and every round at a later noon. Half a day is exact in binary numbers, so that ages are
whole days, as in the lab. A midnight would be, too, but a `lastmod` at midnight means the whole day.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.lab.livingweb.behaviour import SiteBehaviour
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.site import SitemapEntries
from webstrata.lab.policies.simulated_sources import ListedEntries
from webstrata.lab.policies.truth import Truth

START_AT = 18_000.5 * DAY_S
_BEHAVIOUR = SiteBehaviour(address="127.0.0.1", latency_mean_s=0.0, sitemap=True)
_WORDS = (
    "amber", "anchor", "arrow", "aspen", "basin", "beacon", "birch", "bridge", "cabin", "canal", "candle", "cedar",
    "cliff", "cloud", "copper", "coral", "cotton", "delta", "ember", "falcon", "fern", "field", "flint", "forest",
    "garden", "glacier", "granite", "harbour", "hazel", "heron", "hollow", "island", "ivory", "juniper", "lagoon",
    "lantern", "ledge", "lilac", "linen", "maple", "marble", "meadow", "mirror", "moss", "needle", "oak", "olive",
    "orchard", "paper", "pebble", "pepper", "pine", "plain", "planet", "pollen", "prairie", "quarry", "raven", "reed",
    "ridge", "river", "saddle", "silver", "willow",
)  # fmt: skip
_SENTENCE_WORDS = 16


class HistorySites:
    """The pages of a window as recordings, with their URLs; the n-th URL is that of the n-th page of the truth."""

    def __init__(self, truth: Truth) -> None:
        """The pages of a site must follow each other: then the order of the URLs is that of the pages."""
        self._created_at = START_AT - (truth.past_days + 1.0) * DAY_S
        """The time of the first version of every page, before the window and before the days that archives know."""
        names, site = np.unique(np.array(truth.histories.site), return_inverse=True)
        self.site: NDArray[np.intp] = site.astype(np.intp)
        """By page: the index of its site."""
        self.hosts = [_name(number) for number in range(len(names))]
        self._paths = [f"page{row:07d}.html" for row in range(len(truth))]
        self.recordings = self._record(truth)
        self.page_urls = [
            self.recordings[number].url(path) for number, path in zip(self.site.tolist(), self._paths, strict=True)
        ]
        self.list_urls = [f"http://{recording.host}/sitemap.xml" for recording in self.recordings]

    @property
    def behaviours(self) -> dict[str, SiteBehaviour]:
        return dict.fromkeys(self.hosts, _BEHAVIOUR)

    def sitemaps(self, lists: ListedEntries) -> dict[str, SitemapEntries]:
        """The sitemap of each site, with the entries of its list; every page is listed from the start."""
        return {host: partial(self._entries, lists, number) for number, host in enumerate(self.hosts)}

    def content_at(self, row: int, at: float) -> bytes:
        """The content of a page at this time of the clock."""
        recording = self.recordings[int(self.site[row])]
        version = recording.version_at(self._paths[row], at)
        return recording.contents[version[1]] if version is not None and version[1] is not None else b""

    def _entries(self, lists: ListedEntries, number: int, at: float) -> list[tuple[str, float]]:
        dated = {int(row): self._created_at for row in np.flatnonzero(self.site == number)}
        rows, days = lists.news(number, -np.inf, (at - START_AT) / DAY_S)
        dated |= {int(row): instant(day) for row, day in zip(rows.tolist(), days.tolist(), strict=True)}
        return [(self._paths[row], lastmod) for row, lastmod in dated.items()]

    def _record(self, truth: Truth) -> list[Recording]:
        pages: list[dict[str, list[tuple[float, str | None]]]] = [{} for _ in self.hosts]
        contents: list[dict[str, bytes]] = [{} for _ in self.hosts]
        changed, days = truth.events(-truth.past_days, truth.days)
        begin = np.searchsorted(changed, np.arange(len(truth) + 1))
        for row, (number, path) in enumerate(zip(self.site.tolist(), self._paths, strict=True)):
            times = [self._created_at, *(instant(day) for day in days[begin[row] : begin[row + 1]].tolist())]
            blobs: list[tuple[float, str | None]] = []
            for version, at in enumerate(times):
                blob, content = _version(row, version)
                blobs.append((at, blob))
                contents[number][blob] = content
            pages[number][path] = blobs
        return [
            Recording(site=name, pages=pages[number], contents=contents[number])
            for number, name in enumerate(self.hosts)
        ]


def instant(day: float) -> float:
    """The time of the clock; the histories count whole seconds."""
    return round(START_AT + day * DAY_S, 3)


def _name(number: int) -> str:
    return f"site{number:05d}"


def _version(row: int, version: int) -> tuple[str, bytes]:
    """(content id, content). Every version is another sentence of plain words, so that it counts as a change and no
    place of the page resembles a clock or a counter, which would be learned as noise."""
    digest = blake2b(f"{row} {version}".encode(), digest_size=20)
    words = " ".join(_WORDS[byte % len(_WORDS)] for byte in digest.digest()[:_SENTENCE_WORDS])
    html = f"<html><head><title>page</title></head><body><article><p>{words}.</p></article></body></html>"
    return digest.hexdigest(), html.encode()
