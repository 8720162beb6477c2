"""Coherence out of ordinary visits: what the loop's own log saw of a site."""

from __future__ import annotations

from urllib.parse import urlsplit

from webstrata import urls
from webstrata.errors import UsageError
from webstrata.ports import Store
from webstrata.records import PageRole, Sighting


async def logged_sightings(store: Store, site: str, *, layer: str = "content") -> list[Sighting]:
    """All that visits saw of the pages below an address, or of a host.

    `layer`: "content" compares what counts as a change of the page (the log's own judgement), "raw" its bytes.
    """
    prefix = urls.canonical(site if "://" in site else f"http://{site}/")
    host = urls.host_of(prefix)
    below = prefix if urlsplit(prefix).path.strip("/") else ""
    seen: list[Sighting] = []
    async for page in store.pages(host=host):
        if page.role is not PageRole.PAGE or not page.url.startswith(below):
            continue
        version = 0
        for visit in await store.visits(page.id, order="oldest"):
            if visit.status is None or visit.failure is not None:
                continue
            version += visit.counts
            content = (visit.raw or visit.payload or "") if layer == "raw" else f"{version}"
            seen.append(Sighting(url=page.url, at=visit.at, content=content, status=_status(visit.status)))
    if not seen:
        raise UsageError(f"nothing of {site} was visited yet. `webstrata list --host {host}` shows what is watched.")
    return seen


def _status(status: int) -> int:
    """A 304 says that the page is as it was."""
    return 200 if status == 304 else status
