"""What really happened: every change of every page, from the recorded versions. No policy ever receives it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Literal

from msgspec import Struct

from webstrata.detect.verdict import judge
from webstrata.lab.livingweb.media import media_type
from webstrata.lab.livingweb.recording import Recording
from webstrata.observe.page import fingerprint
from webstrata.records import Fingerprint, Observation

See = Callable[[bytes, str, str | None, str], Fingerprint]
"""(body, media type, charset, url) -> fingerprint."""
Counts = Callable[[Fingerprint, Fingerprint], bool]
"""Whether the step from one content to the next is a change in the layer that counts."""


class TrueChange(Struct, frozen=True, kw_only=True, gc=False):
    """One publication after which a visitor would have got other bytes than before."""

    url: str
    at: float
    kind: Literal["changed", "gone", "back", "new"]
    """`new`: the path came to be; `back`: it came again after it was gone."""
    counts: bool
    """Also a change in the layer that counts; coming and going always is."""


def what_happened(
    recordings: Iterable[Recording],
    start_at: float,
    end_at: float,
    *,
    see: See = fingerprint,
    counts: Counts | None = None,
    only: Container[str] | None = None,
) -> list[TrueChange]:
    """All changes in (start_at, end_at], by URL and time; with `only`, of those URLs.

    Two versions are compared as a visitor gets them (with the media type and charset that the living web declares)
    and, unless told otherwise, by the loop's own fingerprint and verdict.
    """
    found: list[TrueChange] = []
    for recording in recordings:
        for path in recording.pages:
            url = recording.url(path)
            if only is None or url in only:
                found += _page(recording, path, url, (start_at, end_at), see, counts or _judged)
    return sorted(found, key=lambda change: (change.url, change.at))


def _judged(before: Fingerprint, after: Fingerprint) -> bool:
    seen = Observation(url="", at=0.0, status=200, fingerprint=after)
    return judge(before, False, seen).counts


def _page(
    recording: Recording, path: str, url: str, window: tuple[float, float], see: See, counts: Counts
) -> Iterable[TrueChange]:
    before: str | None = None
    ever = False
    looked: dict[str, Fingerprint] = {}

    def look(blob: str) -> Fingerprint:
        if blob not in looked:
            body = recording.contents[blob]
            looked[blob] = see(body, *media_type(path, body), url)
        return looked[blob]

    for at, blob in recording.pages[path]:
        if window[0] < at <= window[1]:
            if before and blob:
                yield TrueChange(url=url, at=at, kind="changed", counts=counts(look(before), look(blob)))
            else:
                kind: Literal["gone", "back", "new"] = "gone" if before else "back" if ever else "new"
                yield TrueChange(url=url, at=at, kind=kind, counts=True)
        before = blob
        ever = True
