"""The pages of recorded sites with the static features of their first version, and the times of their changes.

A change is one that the crawl loop counts when it compares two versions alone: of the useful content, not of a date in
a footer. (The paper takes any change of the text without markup. One site here rewrites such a date at each build, so
that nearly the whole group of the fastest pages would consist of its 113 pages.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.detect.verdict import judge, judge_alone
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording, read_recording
from webstrata.lab.livingweb.site import media_type
from webstrata.observe.page import observation_of, observe_typed
from webstrata.observe.static_features import static_features
from webstrata.records import Observation

VERSIONS = ".versions.parquet"
MOST_PAGES = 250
"""Pages of each site, so that no site outweighs the others."""
LONGEST_DAYS = 730.0
"""Days after a page's first version that are read."""
SHORTEST_DAYS = 60.0
"""Pages that lasted for less time are left out."""


class RecordedPage(Struct, frozen=True, kw_only=True):
    """One page of a recorded site."""

    site: str
    path: str
    features: dict[str, float]
    """Without `has_last_modified`: recordings have no headers."""
    lasted_days: float
    """From the first version until the page was deleted, the recording ended, or `LONGEST_DAYS`."""
    changed_after_days: tuple[float, ...]
    """From the first version to each change, ascending."""


def read_recorded_pages(
    folder: Path,
    on_site: Callable[[str, int], object] = lambda site, pages: None,
    most: int = MOST_PAGES,
    seed: int = 1,
) -> list[RecordedPage]:
    """The pages of all sites of a folder. `on_site` is called with each site and its number of pages."""
    found: list[RecordedPage] = []
    sites = sorted(file.name.removesuffix(VERSIONS) for file in folder.glob(f"*{VERSIONS}"))
    if not sites:
        raise UsageError(f"{folder} has no recorded site: no file is named NAME{VERSIONS}.")
    for site in sites:
        pages = list(_pages_of(read_recording(folder, site), most, seed))
        on_site(site, len(pages))
        found += pages
    return found


def _pages_of(recording: Recording, most: int, seed: int) -> Iterator[RecordedPage]:
    end = max(at for versions in recording.pages.values() for at, _ in versions)
    lives = {path: _life(versions, end) for path, versions in sorted(recording.pages.items())}
    usable = [path for path, life in lives.items() if life is not None]
    chosen = np.random.default_rng(seed).permutation(len(usable))[:most]
    for index in sorted(chosen.tolist()):
        path = usable[index]
        life = lives[path]
        if life is not None:
            yield _page(recording, path, *life)


def _life(versions: list[tuple[float, str | None]], end: float) -> tuple[list[tuple[float, str]], float] | None:
    """The versions until the page was deleted or the days are over, and how many days that is; None: too short."""
    alive: list[tuple[float, str]] = []
    for at, blob in versions:
        if blob is None:
            end = min(end, at) if alive else end
            if alive:
                break
        else:
            alive.append((at, blob))
    if not alive:
        return None
    lasted = min((end - alive[0][0]) / DAY_S, LONGEST_DAYS)
    kept = [(at, blob) for at, blob in alive if (at - alive[0][0]) / DAY_S <= lasted]
    return (kept, lasted) if lasted >= SHORTEST_DAYS else None


def _page(recording: Recording, path: str, versions: list[tuple[float, str]], lasted: float) -> RecordedPage:
    url = recording.url(path)
    start = versions[0][0]
    features: dict[str, float] = {}
    changed: list[float] = []
    before: Observation | None = None
    for at, blob in versions:
        body = recording.contents[blob]
        content = observe_typed(body, *media_type(path, body), url)
        after = observation_of(content, url, at)
        if before is None:
            features = static_features(content, body, url)
            del features["has_last_modified"]
        elif _counts(before, after):
            changed.append((at - start) / DAY_S)
        before = after
    return RecordedPage(
        site=recording.site, path=path, features=features, lasted_days=lasted, changed_after_days=tuple(changed)
    )


def _counts(before: Observation, after: Observation) -> bool:
    if before.fingerprint is None or not judge(before.fingerprint, False, after).counts:
        return False
    return judge_alone(before, after).counts
