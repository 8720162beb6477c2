"""Recorded sites as timelines of new links and new contents."""

from __future__ import annotations

from collections.abc import Set

import numpy as np
import pytest

from webstrata.columns import LinkKind
from webstrata.lab.hacs.recorded import SampledPage, SeenVersion, recorded_pages, recorded_timelines
from webstrata.lab.hacs.timeline import UpdateTimeline
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, Recording, load_shipped

DAY = 86_400.0
NONE: frozenset[int] = frozenset()


def _version(day: float, content: str, internal: Set[int] = NONE, external: Set[int] = NONE) -> SeenVersion:
    links = {LinkKind.INTERNAL: frozenset(internal), LinkKind.EXTERNAL: frozenset(external), LinkKind.DOCUMENT: NONE}
    return SeenVersion(day=day, content=content, links=links if content else {})


PAGES = [
    SampledPage(
        site=0,
        depth=0,
        versions=[
            _version(-5, "a", {1, 2}),
            _version(3, "b", {1, 2}, {9}),  # a new external link
            _version(5, "a", {1, 2}),  # back: another content, no new link
            _version(7, "c", {1, 3}, {9}),  # a new internal link; 9 was there before
            _version(9, ""),  # deleted
            _version(12, "c", {1, 3}, {9}),
        ],
        copy_days=[1.0, 6.0, 8.0, 10.0, 13.0],
    ),
    SampledPage(site=0, depth=1, versions=[_version(2, "x"), _version(4, "y", {4})], copy_days=[1.0, 3.0, 11.0, 14.0]),
    SampledPage(site=1, depth=2, versions=[_version(0, "z")], copy_days=[]),
]


def _of(corpus: str) -> UpdateTimeline:
    return next(one for one in recorded_timelines(PAGES, 28.0) if one.corpus == corpus)


@pytest.mark.parametrize(
    ("update", "true", "shown"),
    [
        ("links", [3.0, 7.0], [False, False, True, False]),  # the copy of day 6 does not have the link of day 3
        ("internal links", [7.0], [False, False, True, False]),
        ("external links", [3.0], [False, False, True, False]),  # 9 is new to the copies on day 8
        ("content", [3.0, 5.0, 7.0], [False, False, True, False]),
    ],
)
def test_updates_of_a_page(update: str, true: list[float], shown: list[bool]) -> None:
    """A link counts when it was never there before, a content when it differs from the last one; copies are judged by
    copies; there is no copy while the page is deleted."""
    found = _of(f"{update}/homepage")

    assert found.pages == 1
    assert found.updates.at_days.tolist() == true
    assert found.copies.at_days.tolist() == [1.0, 6.0, 8.0, 13.0]
    assert found.shows.tolist() == shown


def test_levels() -> None:
    """Pages to depth 2, homepages, and sites: copies and updates of all pages, without first copies of pages."""
    pages, sites = _of("links/page"), _of("links/website")

    assert (pages.pages, sites.pages) == (3, 2)
    assert pages.copies.at_days[pages.copies.page == 1].tolist() == [3.0, 11.0, 14.0]
    assert sites.updates.at_days.tolist() == [3.0, 4.0, 7.0]
    assert sites.copies.at_days.tolist() == [6.0, 8.0, 11.0, 13.0, 14.0]
    assert sites.shows.tolist() == [False, True, True, False, False]
    assert [one.corpus for one in recorded_timelines(PAGES[1:], 28.0)][:2] == ["links/page", "links/website"]
    assert recorded_timelines([], 28.0) == []


def test_links_are_read_from_the_contents() -> None:
    """The kinds of real links; pages deeper than two are left out; the evaluation ends with the last version."""
    first = b'<title>t</title><p>Some text <a href="/a.html">a</a> <a href="https://b.example/">b</a>'
    recording = Recording(
        site="made",
        pages={
            "index.html": [(1e9, "1"), (1e9 + 100 * DAY, "2"), (1e9 + 200 * DAY, None)],
            "a/b/c.html": [(1e9, "1")],
            "later.html": [(1e9 + 199 * DAY, "1")],
        },
        contents={"1": first, "2": first + b' <a href="/x.pdf">x</a>'},
    )
    pages, days = recorded_pages([recording], 1)
    home, later = pages

    assert days == 1095.0
    assert [version.day for version in home.versions] == [895.0, 995.0, 1095.0]
    assert [len(home.versions[1].links[kind]) for kind in LinkKind] == [1, 1, 1]
    assert home.versions[0].content != home.versions[1].content
    assert home.versions[2].content == ""
    assert 895 < min(home.copy_days) < max(home.copy_days) < 1095
    assert later.depth == 1
    assert all(day > 1094 for day in later.copy_days)


def test_a_recorded_site() -> None:
    """The shipped window begins with twelve weeks of copies only; an update of a page is one of its site."""
    recordings = [one for one in load_shipped() if one.site == "llvm"]
    pages, days = recorded_pages(recordings, 1, SHIPPED_WINDOW)
    found = {one.corpus: one for one in recorded_timelines(pages, days)}

    assert days == pytest.approx(731 - 84)
    assert found["links/website"].pages == found["links/homepage"].pages == 1
    assert 0 < len(found["links/homepage"].updates.at_days) < len(found["content/homepage"].updates.at_days)
    for kind in ("links", "content"):
        of_pages, of_sites = found[f"{kind}/page"], found[f"{kind}/website"]
        assert np.array_equal(np.unique(of_pages.updates.at_days), of_sites.updates.at_days)
        assert of_pages.shows.sum() == of_sites.shows.sum() > 0
