"""Copies that an archive took of history sites before the window of a live crawl."""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.flows.crawl.parse import payload_digest
from webstrata.lab.live.sites import HistorySites, instant
from webstrata.records import ArchivedCopy
from webstrata.schedule.past_copies import PastSightings

ARCHIVE = "lab"
_BATCH = 5_000


def archived_copies(sites: HistorySites, sightings: PastSightings) -> Iterator[list[ArchivedCopy]]:
    """The copies in batches, with the payload digests of what the sites served at these times."""
    batch: list[ArchivedCopy] = []
    for row, day in zip(sightings.page.tolist(), sightings.at.tolist(), strict=True):
        at = instant(day)
        digest = payload_digest(sites.content_at(row, at))
        batch.append(ArchivedCopy(url=sites.page_urls[row], at=at, archive=ARCHIVE, digest=digest, status=200))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch
