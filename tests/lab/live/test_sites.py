"""Sites made from histories: each page changes exactly at the times of its history, and sitemaps say what lists say."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from tests.lab.policies.made_histories import made
from webstrata.clock import DAY_S, iso
from webstrata.lab.live.lists import ListKind, site_lists
from webstrata.lab.live.sites import START_AT, HistorySites, instant
from webstrata.lab.livingweb.site import ServedSite
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.truth import Truth
from webstrata.observe.page import observe

DAYS = 50


def by_site(histories: Histories) -> Histories:
    return histories.take(np.argsort(np.array(histories.site), kind="stable"))


TRUTH = Truth(by_site(made(pages=12, days=DAYS + 10)), DAYS)
SITES = HistorySites(TRUTH)


def server(number: int, kind: ListKind = "none") -> ServedSite:
    host = SITES.hosts[number]
    lists = site_lists(kind, TRUTH, SITES.site)
    sitemap = None if lists is None else SITES.sitemaps(lists)[host]
    return ServedSite(SITES.recordings[number], SITES.behaviours[host], sitemap)


def body(row: int, day: float) -> bytes:
    path = SITES.page_urls[row].partition(".test")[2]
    return server(int(SITES.site[row])).respond(path, {}, START_AT + day * DAY_S).body


def sitemap(number: int, kind: ListKind, day: float) -> dict[str, str]:
    xml = server(number, kind).respond("/sitemap.xml", {}, START_AT + day * DAY_S).body.decode()
    return dict(re.findall(r"<loc>(.*?)</loc><lastmod>(.*?)</lastmod>", xml))


def test_a_page_changes_at_the_times_of_its_history_and_only_then() -> None:
    """On every day a page has a new content if the history has a change since the day before; none returns."""
    for row in range(len(TRUTH)):
        versions = [body(row, float(day)) for day in range(DAYS + 1)]
        rows = np.full(DAYS, row)
        changed = TRUTH.changed(rows, np.arange(DAYS, dtype=float), np.arange(1, DAYS + 1, dtype=float)) > 0
        assert [a != b for a, b in pairwise(versions)] == changed.tolist()
        assert len(set(versions)) == 1 + changed.sum()


def test_a_change_takes_place_at_its_second() -> None:
    """The old content is served up to the second before the change, the new one from the change on."""
    row, day = (int(TRUTH.events(0.0, DAYS)[0][0]), float(TRUTH.events(0.0, DAYS)[1][0]))
    at = (instant(day) - START_AT) / DAY_S
    assert body(row, at - 1.0 / DAY_S) != body(row, at + 1e-6)


def test_every_version_is_other_useful_text() -> None:
    """Contents differ in the text layer, not only in bytes."""
    row = int(np.argmax(TRUTH.total()))
    texts = {
        observe(body(row, float(day)), url=SITES.page_urls[row], content_type="text/html").fingerprint.text
        for day in range(DAYS + 1)
    }
    assert len(texts) == len({body(row, float(day)) for day in range(DAYS + 1)})


def test_urls_are_in_the_order_of_the_pages() -> None:
    """The store orders pages by URL; the lab by row. They are the same order."""
    assert sorted(SITES.page_urls) == SITES.page_urls
    assert len(SITES.list_urls) == len(SITES.hosts) == 3


def test_a_truthful_sitemap_gives_the_last_change() -> None:
    """`lastmod` is the last change up to the request, or the time of creation."""
    for number in range(3):
        listed = sitemap(number, "truth", 30.0)
        assert set(listed) == {SITES.page_urls[row] for row in np.flatnonzero(SITES.site == number)}
        changed, at = TRUTH.events(0.0, 30.0)
        for row in np.flatnonzero(SITES.site == number).tolist():
            own = at[changed == row]
            last = instant(own[-1]) if len(own) else START_AT - DAY_S
            assert listed[SITES.page_urls[row]] == iso(float(int(last)))


def test_sitemaps_say_what_the_lists_of_the_lab_say() -> None:
    """The entries that differ between two requests are the news of the list between these times."""
    kinds: tuple[ListKind, ...] = ("truth", "random", "shuffled", "half", "silent")
    for kind in kinds:
        lists = site_lists(kind, TRUTH, SITES.site)
        assert lists is not None
        before, after = sitemap(1, kind, 20.0), sitemap(1, kind, 23.0)
        rows, at = lists.news(1, 20.0, 23.0)
        expected = {SITES.page_urls[row]: iso(float(int(instant(day)))) for row, day in zip(rows, at, strict=True)}
        assert {url: date for url, date in after.items() if before[url] != date} == expected


def test_now_and_silent_sitemaps() -> None:
    """`now`: every date is that of the request. `silent`: no date ever changes."""
    assert set(sitemap(0, "now", 12.25).values()) == {iso(START_AT + 12.25 * DAY_S)}
    assert sitemap(0, "silent", 1.0) == sitemap(0, "silent", 49.0)
