"""The template of a site: which runs stand on several of its pages, and which changes of them were seen already.

A menu, a footer or a list of recent posts is what repeats on the pages of a site, whatever elements it is made of. The
first pages of a host that are visited teach the template: for each run, on how many pages it stands. From the second
page on it tells what belongs to a page alone.

A run that appears or vanishes is a *site event*. The first page on which it is seen is told of it; when other pages
show the same event, the template has changed and they are not told. A product that is sold out is no site event:
other pages that are visited afterwards still have the old line, which is counted against the event.

The template of a host takes at most 24 KB for its runs and about 8 KB for its events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.columns import Part
from webstrata.detect.memory import PageMemory
from webstrata.detect.runs import TextRuns, parse_runs

MAX_PAGES = 12
"""Pages that teach the template of a host."""
_MAX_RUNS = 4096
_MAX_EVENTS = 256
_MAX_EVENTS_A_PAGE = 128
"""Runs that differ in one page; if there are more, the page was rewritten, and only the first ones become events."""
_EVENT_S = 30 * 86_400.0
"""Time after which an event is over: the same change then is a new event."""
_MIN_PAGES_MAIN = 2
"""Other pages that must show an event before a difference in the main content is taken for the template's."""
_MIN_PAGES_DOUBTFUL = 2
"""Other pages that must show an event if some that were visited later do not; and as many as do not."""

TEMPLATE_PARTS: frozenset[int] = frozenset(
    {Part.TITLE, Part.BODY, Part.SIDE, Part.HEADER, Part.FOOTER, Part.MAIN_LINK, Part.OTHER_LINK}
)
_ROW = np.dtype([("value", "<u4"), ("pages", "<u2")])
_FORMAT = 1


class SiteEvent(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A run that appeared on pages of a site, or vanished from them."""

    value: int
    is_added: bool
    at: float
    """When it was first seen."""
    page_id: int
    """The page on which it was first seen."""
    pages: int = 1
    """Pages that showed it."""
    contrary: int = 0
    """Visits after it was first seen, to pages that do not show it."""


class SiteTemplate(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What is known of the template of a host."""

    pages: int = 0
    """Pages that taught it."""
    runs: bytes = b""
    """Rows (value, pages), sorted by value."""
    events: tuple[SiteEvent, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether it tells anything about the pages: at least two taught it."""
        return self.pages >= 2


def pack_template(template: SiteTemplate) -> bytes:
    return bytes([_FORMAT]) + msgspec.msgpack.encode(template)


def unpack_template(packed: bytes) -> SiteTemplate:
    """The template; an empty one if there is none or it cannot be decoded."""
    if not packed or packed[0] != _FORMAT:
        return SiteTemplate()
    try:
        return msgspec.msgpack.decode(packed[1:], type=SiteTemplate)
    except msgspec.MsgspecError:
        return SiteTemplate()


class TemplateOfPage:
    """The template as one page sees it: the page's own lines do not count as those of another page."""

    def __init__(self, template: SiteTemplate, page_id: int, *, is_taught: bool) -> None:
        """`is_taught`: the page is one of those that taught the template, with the runs of its last version."""
        self._page_id = page_id
        self._rows = np.frombuffer(template.runs, dtype=_ROW)
        self._own = int(is_taught)
        self._events = {(event.value, event.is_added): event for event in template.events}

    def elsewhere(self, value: int, *, is_own: bool) -> bool:
        """Whether a run stands on another page. `is_own`: the page's last version has it, too."""
        row = int(np.searchsorted(self._rows["value"], _short(value)))
        if row == len(self._rows) or int(self._rows["value"][row]) != _short(value):
            return False
        return int(self._rows["pages"][row]) > (self._own if is_own else 0)

    def is_known_event(self, value: int, *, is_added: bool, min_pages: int = 1) -> bool:
        """Whether other pages showed the same run appear or vanish, and few did not."""
        event = self._events.get((_short(value), is_added))
        if event is None:
            return False
        pages = event.pages - (event.page_id == self._page_id)
        return pages >= max(min_pages, event.contrary, _MIN_PAGES_DOUBTFUL if event.contrary else 0)

    def is_event_of_main(self, value: int, *, is_added: bool) -> bool:
        """The same for a difference in the main content, where more pages must show it."""
        return self.is_known_event(value, is_added=is_added, min_pages=_MIN_PAGES_MAIN)


def after_visit(template: SiteTemplate, page_id: int, memory: PageMemory, runs: bytes, at: float) -> SiteTemplate:
    """The template after a visit to a page that was known before.

    `memory` is what was known of the page before the visit; `runs` are those of a version with other bytes, empty if
    the bytes are the same.
    """
    if not runs:
        return with_unchanged(template, memory, at=at) if template.events else template
    if not memory.runs:
        return template
    old, new = parse_runs(memory.runs), parse_runs(runs)
    return with_version(template, page_id, old, new, at=at, is_taught=memory.taught)


def taught(template: SiteTemplate, pages: Sequence[bytes]) -> SiteTemplate:
    """The template after the first versions of more pages, each given as hashes of its lines and links (uint64).

    Many pages are added at once, because each addition goes through all runs of the template.
    """
    if not pages:
        return template
    short = [np.unique(np.frombuffer(values, dtype="<u8").astype(np.uint32)) for values in pages]
    values, counts = np.unique(np.concatenate(short), return_counts=True)
    rows = _with_counts(np.frombuffer(template.runs, dtype=_ROW), values, counts)
    return replace(template, pages=template.pages + len(pages), runs=rows.tobytes())


def with_version(
    template: SiteTemplate, page_id: int, old: TextRuns, new: TextRuns, *, at: float, is_taught: bool
) -> SiteTemplate:
    """The template after a page changed from one version to another."""
    before, after = _values(old), _values(new)
    old_count, new_count = Counter(before), Counter(after)
    removed, added = old_count - new_count, new_count - old_count
    events = _with_events(_current(template.events, at), page_id, removed, added, at)
    events = _with_contrary(events, _sorted(after), {*removed, *added})
    rows = np.frombuffer(template.runs, dtype=_ROW)
    if is_taught:
        vanished = np.intersect1d(_sorted(old_count.keys() - new_count.keys()), rows["value"])
        rows = _with_counts(rows, vanished, -1)
        rows = _with_counts(rows, _sorted(new_count.keys() - old_count.keys()), 1)
    return replace(template, runs=rows.tobytes(), events=events)


def with_unchanged(template: SiteTemplate, memory: PageMemory, *, at: float) -> SiteTemplate:
    """The template after a visit to a page that did not change: it may not show the events of the site."""
    events = _current(template.events, at)
    if memory.runs:
        events = _with_contrary(events, _sorted(_values(parse_runs(memory.runs))), ())
    else:  # it has not changed since its first version
        events = tuple(
            replace(event, contrary=event.contrary + 1) if event.at > memory.at else event for event in events
        )
    return template if events == template.events else replace(template, events=events)


def _short(value: int) -> int:
    return value & 0xFFFFFFFF


def _values(runs: TextRuns) -> list[int]:
    """The short values of the runs that may belong to a template, as often as they occur."""
    return [_short(value) for value, part in zip(runs.values, runs.parts, strict=True) if part in TEMPLATE_PARTS]


def _sorted(values: Iterable[int]) -> NDArray[np.uint32]:
    """Short values, each once."""
    return np.unique(np.fromiter(values, dtype=np.uint32))


def _with_counts(rows: NDArray[np.void], values: NDArray[np.uint32], by: int | NDArray[np.int64]) -> NDArray[np.void]:
    """The rows with the number of pages of these values changed by `by`; at most `_MAX_RUNS` rows.

    If there are more, rows of one page are dropped by their value, so that the same runs are dropped on every page.
    """
    merged = np.union1d(rows["value"], values)
    pages = np.zeros(len(merged), dtype=np.int64)
    pages[np.searchsorted(merged, rows["value"])] = rows["pages"]
    pages[np.searchsorted(merged, values)] += by
    kept = np.flatnonzero(pages > 0)
    excess = len(kept) - _MAX_RUNS
    if excess > 0:
        single = kept[pages[kept] == 1][-excess:]
        kept = np.setdiff1d(kept, single)[:_MAX_RUNS]
    result = np.zeros(len(kept), dtype=_ROW)
    result["value"], result["pages"] = merged[kept], np.minimum(pages[kept], 0xFFFF)
    return result


def _current(events: Iterable[SiteEvent], at: float) -> tuple[SiteEvent, ...]:
    return tuple(event for event in events if at - event.at <= _EVENT_S)


def _with_events(
    events: tuple[SiteEvent, ...], page_id: int, removed: Iterable[int], added: Iterable[int], at: float
) -> tuple[SiteEvent, ...]:
    """The events with those that a page shows; the oldest are dropped if there are too many."""
    known = {(event.value, event.is_added): event for event in events}
    for values, is_added in ((removed, False), (added, True)):
        for value in islice(values, _MAX_EVENTS_A_PAGE):
            event = known.pop((value, is_added), None)
            known[value, is_added] = (
                SiteEvent(value=value, is_added=is_added, at=at, page_id=page_id)
                if event is None
                else replace(event, pages=event.pages + 1)
            )
    return tuple(known.values())[-_MAX_EVENTS:]


def _with_contrary(
    events: tuple[SiteEvent, ...], values: NDArray[np.uint32], shown: Collection[int]
) -> tuple[SiteEvent, ...]:
    """The events with one more contrary visit, for those that a page with these runs does not show."""
    if not events:
        return events
    stands = np.isin(np.array([event.value for event in events], dtype=np.uint32), values)
    return tuple(
        event if event.value in shown or bool(has) == event.is_added else replace(event, contrary=event.contrary + 1)
        for event, has in zip(events, stands.tolist(), strict=True)
    )
