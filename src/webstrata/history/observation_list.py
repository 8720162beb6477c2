"""What lists of observations have in common: a page that was looked at several times, and whether it had changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webstrata import urls
from webstrata.copy_rules import CLOCK_DIFFERENCE_S, FIRST_AT
from webstrata.errors import BadUrl
from webstrata.history.batch_rows import BatchRows
from webstrata.records import ArchivedCopy


def seen_digest(version: int) -> str:
    """The digest of a content that a list does not tell: contents of one page with other numbers differ."""
    return f"seen:{version}"


def page_url(text: str) -> str | None:
    """The canonical URL of a page; None if the text is not one."""
    try:
        return urls.canonical(text)
    except BadUrl:
        return None


def add_observations(
    batch: BatchRows, url: str, observations: Iterable[tuple[float, int]], *, archive: str, now: float, where: str
) -> None:
    """Add the copies of one page: (time, number of its version)."""
    last = float("-inf")
    for at, version in observations:
        if not at >= FIRST_AT:
            batch.skip("invalid-date", where, f"{url}: before the web")
        elif at > now + CLOCK_DIFFERENCE_S:
            batch.skip("future", where, url)
        elif at <= last:
            batch.skip("duplicate" if at == last else "out-of-order", where, url)
        else:
            last = at
            batch.keep(ArchivedCopy(url=url, at=at, archive=archive, digest=seen_digest(version)), where)


def observed_versions(gaps: list[tuple[float, bool]], until: float) -> Iterator[tuple[float, int]]:
    """The observations of a page: the last one at `until`, and one before each gap (in seconds)."""
    at = until - sum(gap_s for gap_s, _ in gaps)
    version = 0
    yield at, version
    for index, (gap_s, is_changed) in enumerate(gaps, 1):
        version += is_changed
        at = until if index == len(gaps) else at + gap_s
        yield at, version
