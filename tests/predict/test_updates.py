"""Histories of updates by content and by links, from visits and copies, and of sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.clock import DAY_S
from webstrata.columns import SEEN_LINK, LinkKind
from webstrata.predict.updates import LAYERS, UpdateEvidence, UpdateLayer, merged, update_history
from webstrata.predict.visit_history import VisitHistory, visit_history
from webstrata.records import CopyRow


def copy(day: float, digest: str = "", text: str = "", *, read: bool = False, page: int = 7) -> CopyRow:
    full = f"sha1:{digest}" if digest else ""
    return CopyRow(page_id=page, at=day * DAY_S, archive="a", digest=full, text=text, status=200, has_links=read)


def intervals(history: VisitHistory) -> list[tuple[float, bool, float]]:
    """(days, an update was seen, end)."""
    columns = (history.elapsed_days, history.changed, history.at_days)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def content(copies: list[CopyRow], visits: Sequence[tuple[float, bool]] = ()) -> list[tuple[float, bool, float]]:
    logged = [(7, day * DAY_S, changed) for day, changed in visits]
    return intervals(update_history(UpdateEvidence(ids=[7], visits=logged, copies=copies), "content"))


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ([copy(0, "a"), copy(5, "a"), copy(6, "b")], [(5, False, 5), (1, True, 6)]),
        ([copy(0, "a", "x"), copy(5, "b", "x")], [(5, False, 5)]),  # other bytes, but the same text
        ([copy(0, "a", "x"), copy(5, "b")], [(5, True, 5)]),  # only one text: the payloads decide
        ([copy(0, "a"), copy(5), copy(8, "b")], [(8, True, 8)]),  # a copy without digests says nothing
        ([copy(0, "a"), copy(5, "", "x")], []),  # they cannot be compared
        ([copy(0, "a")], []),
        ([], []),
    ],
)
def test_copies_are_compared_by_their_digests(copies: list[CopyRow], expected: list[tuple[float, bool, float]]) -> None:
    """By text if both have one, else by payload."""
    assert content(copies) == expected


def test_digests_of_other_algorithms_are_not_compared() -> None:
    """Nothing is known between them."""
    other = CopyRow(page_id=7, at=DAY_S, archive="a", digest="md5:a", text="", status=200, has_links=False)
    assert content([copy(0, "a"), other]) == []


def test_visits_win_where_both_are_known() -> None:
    """Copies before the first visit and after the last one count; those between them do not, and nothing is known
    between a copy and a visit."""
    copies = [copy(0, "a"), copy(2, "b"), copy(11, "c"), copy(30, "d"), copy(33, "d")]
    visits = [(10, False), (20, True)]
    assert content(copies, visits) == [(2, True, 2), (10, True, 20), (3, False, 33)]


def links(*rows: tuple[int, LinkKind, float]) -> bytes:
    return np.array([(value, kind, day * DAY_S) for value, kind, day in rows], dtype=SEEN_LINK).tobytes()


LINKS = links(
    (1, LinkKind.INTERNAL, 0), (2, LinkKind.EXTERNAL, 0), (3, LinkKind.EXTERNAL, 5), (4, LinkKind.DOCUMENT, 9),
    (5, LinkKind.INTERNAL, 20),
)  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("links", [(5, True, 5), (4, True, 9), (11, True, 20)]),
        ("external-links", [(5, True, 5), (4, False, 9), (11, False, 20)]),
        ("internal-links", [(5, False, 5), (4, False, 9), (11, True, 20)]),
        ("documents", [(5, False, 5), (4, True, 9), (11, False, 20)]),
    ],
)
def test_updates_by_new_links(layer: UpdateLayer, expected: list[tuple[float, bool, float]]) -> None:
    """Copies at 0, 5 and 9 were read, a visit at 20 too; each kind of link counts in its layers."""
    copies = [copy(0, "a", read=True), copy(5, "b", read=True), copy(9, "c", read=True)]
    evidence = UpdateEvidence(ids=[7], visits=[(7, 20 * DAY_S, True)], copies=copies, links={7: LINKS})
    assert intervals(update_history(evidence, layer)) == expected


@pytest.mark.parametrize(
    ("unread", "expected"),
    [
        ("a", [(3, False, 3), (2, True, 5)]),  # the digest of the content before it: no link is new
        ("x", [(5, True, 5)]),  # another content that was not read: the intervals become one
        ("", [(5, True, 5)]),
    ],
)
def test_copies_that_were_not_read(unread: str, expected: list[tuple[float, bool, float]]) -> None:
    """They count for links only if they are known to be the same content."""
    copies = [copy(0, "a", read=True), copy(3, unread), copy(5, "b", read=True)]
    evidence = UpdateEvidence(ids=[7], visits=[], copies=copies, links={7: LINKS})
    assert intervals(update_history(evidence, "links")) == expected


def test_pages_whose_links_are_not_known() -> None:
    """No links are stored: this is not the same as a page without links."""
    evidence = UpdateEvidence(ids=[7], visits=[(7, 0.0, False), (7, DAY_S, True)])
    assert intervals(update_history(evidence, "links")) == []


def test_a_site_is_updated_with_any_of_its_pages() -> None:
    """The sightings of both pages in one order; at the same time one of them is enough."""
    pages = visit_history([0, 2, 4, 5], [10, 10, 5, 15, 3], [0, 1, 1, 0, 1], [10, 20, 5, 20, 3])
    found = merged(pages, np.array([0, 0, 1], dtype=np.intp), 2)
    assert found.offsets.tolist() == [0, 3, 4]
    assert intervals(found) == [(5, True, 5), (5, False, 10), (10, True, 20), (3, True, 3)]


def test_sites_without_histories() -> None:
    """A site whose pages were seen once has no intervals."""
    found = merged(visit_history([0, 0], [], []), np.zeros(1, dtype=np.intp), 2)
    assert found.counts.tolist() == [0, 0]


sightings: Any = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3]),
        st.integers(0, 30),
        st.sampled_from(["", "a", "b"]),
        st.sampled_from(["", "x", "y"]),
        st.booleans(),
    ),
    max_size=25,
)  # fmt: skip


@given(sightings, st.sets(st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 30)), max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_histories_are_always_valid(
    rows: list[tuple[int, int, str, str, bool]], seen: set[tuple[int, int]], flag: bool
) -> None:
    """Whatever was seen: intervals are not negative, do not overlap, and end when the page was seen."""
    copies = [
        copy(day, digest, text, read=read, page=page)
        for page, day, digest, text, read in sorted({(row[0], row[1]): row for row in rows}.values())
    ]
    visits = [(page, day * DAY_S, flag) for page, day in sorted(seen)]
    known = dict.fromkeys((1, 2), LINKS)
    evidence = UpdateEvidence(ids=[1, 2, 3], visits=visits, copies=copies, links=known)
    for layer in LAYERS:
        history = update_history(evidence, layer)
        assert history.pages == 3
        assert (history.elapsed_days >= 0).all()
        begins = history.at_days - history.elapsed_days
        same_page = np.diff(history.page_of()) == 0
        assert (begins[1:][same_page] >= history.at_days[:-1][same_page] - 1e-9).all()
        site = merged(history, np.zeros(3, dtype=np.intp), 1)
        assert site.changed.sum() <= history.changed.sum()
        assert (site.elapsed_days >= 0).all()
