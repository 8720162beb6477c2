"""What counts as an update of a page, and the history of its updates: from own visits and copies in archives.

By the user's choice an update is a change of the content, or a link that no earlier content of the page had: any link,
only links to other hosts, only links to pages of the same host, or only links to documents.

Content: an own visit says itself whether it saw a change since the previous one. Two copies are compared by the digests
of their texts if both have one, else by digests of their payloads of the same kind; if neither can be compared, nothing
is known about the time between them. The same holds between a copy and a visit. Copies between the first and the last
visit are left out, because the visits tell more about this time.

Links: visits and copies whose content was read are compared through the links that were first seen at them. A copy that
was not read counts only if it has the digest of the content before it: then no link is new. All others are left out,
and the intervals before and after them become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import SEEN_LINK, Days, Flags, LinkKind, Rows
from webstrata.predict.visit_history import VisitHistory, from_times, visit_history
from webstrata.records import CopyRow

UpdateLayer: TypeAlias = Literal["content", "links", "external-links", "internal-links", "documents"]
LINK_KINDS: dict[UpdateLayer, tuple[LinkKind, ...]] = {
    "links": (LinkKind.INTERNAL, LinkKind.EXTERNAL, LinkKind.DOCUMENT),
    "external-links": (LinkKind.EXTERNAL,),
    "internal-links": (LinkKind.INTERNAL,),
    "documents": (LinkKind.DOCUMENT,),
}
"""The kinds of links that count in each layer of links."""
LAYERS: tuple[UpdateLayer, ...] = ("content", *LINK_KINDS)

Observations: TypeAlias = Sequence[tuple[int, float, bool]]
"""(page id, time, changed) of own visits, by page and time."""

_SAME, _CHANGED, _UNKNOWN = 0, 1, -1


class UpdateEvidence(Struct, frozen=True, kw_only=True):
    """What is known about the updates of some pages."""

    ids: Sequence[int]
    """The pages, by id."""
    visits: Observations
    copies: Sequence[CopyRow] = ()
    """By page and time."""
    links: Mapping[int, bytes] = {}
    """The links that were ever seen on each page, as packed rows of `SEEN_LINK`; only read for layers of links."""


def update_history(evidence: UpdateEvidence, layer: UpdateLayer) -> VisitHistory:
    """The intervals of these pages about which something is known, and whether each ended at an update."""
    return _content_history(evidence) if layer == "content" else _link_history(evidence, LINK_KINDS[layer])


# ── content ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Sightings(Struct, frozen=True, kw_only=True):
    """Visits and copies of all pages, by page and time. `text`, `digest`: numbers of equal digests; -1: none."""

    page: Rows
    at_s: Days
    text: Rows
    digest: Rows
    algorithm: Rows
    result: NDArray[np.int8]
    """Of a visit: whether it saw a change; of a copy: -1."""
    is_visit: Flags


def _content_history(evidence: UpdateEvidence) -> VisitHistory:
    seen = _sightings(evidence)
    joined = np.zeros(len(seen.page), dtype=bool)
    joined[1:] = seen.page[1:] == seen.page[:-1]
    result = np.full(len(seen.page), _UNKNOWN, dtype=np.int8)
    both_visits, both_copies = joined.copy(), joined.copy()
    both_visits[1:] &= seen.is_visit[1:] & seen.is_visit[:-1]
    both_copies[1:] &= ~seen.is_visit[1:] & ~seen.is_visit[:-1]
    result[both_visits] = seen.result[both_visits]
    compared = np.full(len(seen.page), _UNKNOWN, dtype=np.int8)
    compared[1:] = _compared(seen)
    result[both_copies] = compared[both_copies]
    known = result != _UNKNOWN
    elapsed = np.diff(seen.at_s, prepend=seen.at_s[:1]) / DAY_S
    offsets = np.concatenate([[0], np.cumsum(np.bincount(seen.page[known], minlength=len(evidence.ids)))])
    return visit_history(offsets, elapsed[known], result[known] == _CHANGED, seen.at_s[known] / DAY_S)


def _compared(seen: _Sightings) -> NDArray[np.int8]:
    """Each copy but the first with the one before it."""
    has_texts = (seen.text[1:] >= 0) & (seen.text[:-1] >= 0)
    has_digests = (seen.algorithm[1:] >= 0) & (seen.algorithm[1:] == seen.algorithm[:-1])
    by_text = np.where(seen.text[1:] != seen.text[:-1], _CHANGED, _SAME)
    by_digest = np.where(seen.digest[1:] != seen.digest[:-1], _CHANGED, _SAME)
    return np.where(has_texts, by_text, np.where(has_digests, by_digest, _UNKNOWN)).astype(np.int8)


def _sightings(evidence: UpdateEvidence) -> _Sightings:
    row_of = {id_: row for row, id_ in enumerate(evidence.ids)}
    visits = [(row_of[id_], at, changed) for id_, at, changed in evidence.visits]
    copies = [copy for copy in evidence.copies if copy.digest or copy.text]
    page = np.array([row for row, _, _ in visits] + [row_of[copy.page_id] for copy in copies], dtype=np.intp)
    at_s = np.array([at for _, at, _ in visits] + [copy.at for copy in copies], dtype=np.float64)
    is_visit = np.arange(len(page)) < len(visits)
    kept = is_visit | ~_inside_visits(page, at_s, len(visits), len(evidence.ids))
    result = [int(changed) for _, _, changed in visits] + [_UNKNOWN] * len(copies)
    none = [""] * len(visits)
    numbered = {
        "text": _numbered(none + [copy.text for copy in copies]),
        "digest": _numbered(none + [copy.digest for copy in copies]),
        "algorithm": _numbered(none + [copy.digest.partition(":")[0] for copy in copies]),
    }
    order = np.lexsort((at_s, page))
    order = order[kept[order]]
    return _Sightings(
        page=page[order],
        at_s=at_s[order],
        result=np.array(result, dtype=np.int8)[order],
        is_visit=is_visit[order],
        **{name: column[order] for name, column in numbered.items()},
    )


def _inside_visits(page: Rows, at_s: Days, visits: int, pages: int) -> Flags:
    """Which sightings lie between the first and the last visit of their page; the first `visits` rows are visits."""
    first, last = np.full(pages, np.inf), np.full(pages, -np.inf)
    np.minimum.at(first, page[:visits], at_s[:visits])
    np.maximum.at(last, page[:visits], at_s[:visits])
    inside: Flags = (at_s >= first[page]) & (at_s <= last[page])
    return inside


def _numbered(texts: Sequence[str]) -> Rows:
    """The same number for equal texts; -1 for empty ones."""
    numbers: dict[str, int] = {"": -1}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.intp)


# ── links ───────────────────────────────────────────────────────────────────────────────────────────────────


def _link_history(evidence: UpdateEvidence, kinds: Sequence[LinkKind]) -> VisitHistory:
    seen: dict[int, list[tuple[float, bool, str]]] = {id_: [] for id_ in evidence.ids}
    for id_, at, _ in evidence.visits:
        seen[id_].append((at, True, ""))
    for copy in evidence.copies:
        seen[copy.page_id].append((copy.at, copy.has_links, copy.digest))
    page: list[int] = []
    at_s: list[float] = []
    updated: list[bool] = []
    for row, (id_, sightings) in enumerate(seen.items()):
        if id_ not in evidence.links:  # its links are not known, which is not the same as none
            continue
        for at, is_update in _link_updates(sorted(sightings), _first_times(evidence.links[id_], kinds)):
            page.append(row)
            at_s.append(at)
            updated.append(is_update)
    return from_times(
        np.array(page, dtype=np.intp), np.array(at_s) / DAY_S, np.array(updated, dtype=bool), len(evidence.ids)
    )


def _first_times(packed: bytes, kinds: Sequence[LinkKind]) -> set[float]:
    """The times at which a link of these kinds was first seen."""
    links = np.frombuffer(packed, dtype=SEEN_LINK)
    return set(links["first_at"][np.isin(links["kind"], kinds)].tolist())


def _link_updates(sightings: Sequence[tuple[float, bool, str]], new_at: set[float]) -> list[tuple[float, bool]]:
    """(time, a link is new) of each visit and copy about which this is known: (time, content was read, digest)."""
    known: list[tuple[float, bool]] = []
    last_digest = ""
    for at, was_read, digest in sightings:
        if known and at == known[-1][0]:
            continue
        if was_read:
            known.append((at, at in new_at))
            last_digest = digest
        elif digest and digest == last_digest:
            known.append((at, False))
    return known


# ── sites ───────────────────────────────────────────────────────────────────────────────────────────────────


def merged(history: VisitHistory, unit: Rows, units: int) -> VisitHistory:
    """Several pages as one, like the pages of a site: an update of any page is an update of the site, at the visit that
    saw it. `unit` is the number of each page's site. The first visit of each page is left out: it shows no update."""
    of_visit = unit[history.page_of()]
    order = np.lexsort((history.at_days, of_visit))
    site, at = of_visit[order], history.at_days[order]
    begins = np.ones(len(site), dtype=bool)  # of rows with the same time
    begins[1:] = (np.diff(site) != 0) | (np.diff(at) > 0)
    starts = np.flatnonzero(begins)
    changed = np.logical_or.reduceat(history.changed[order], starts) if len(starts) else np.empty(0, dtype=bool)
    longest = np.maximum.reduceat(history.elapsed_days[order], starts) if len(starts) else np.empty(0)
    site, at = site[starts], at[starts]
    elapsed = np.diff(at, prepend=at[:1])
    first = np.ones(len(site), dtype=bool)
    first[1:] = np.diff(site) != 0
    elapsed[first] = longest[first]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(site, minlength=units))])
    return visit_history(offsets, elapsed, changed, at)
