"""The true changes compared with a brute-force count, and their kinds and layers on a hand-made page."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import pytest

from tests.lab.livingweb.recordings import DAY, T0, boost, make_recording
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped
from webstrata.lab.livingweb.truth import what_happened
from webstrata.records import Fingerprint


def by_bytes(body: bytes, media_type: str, charset: str | None, url: str) -> Fingerprint:
    return Fingerprint(raw=sha256(body).hexdigest(), size=len(body), media_type=media_type, charset=charset)


def never(before: Fingerprint, after: Fingerprint) -> bool:
    return False


def test_kinds_of_changes() -> None:
    """Each publication in the window is a change; the first instant is excluded, the last included."""
    changes = what_happened([boost()], T0 + DAY, T0 + 5 * DAY, compute_fingerprint=by_bytes, counts=never)
    assert [
        (change.url.removeprefix("http://boost.test"), (change.at - T0) / DAY, change.kind) for change in changes
    ] == [
        ("/", 3, "changed"),
        ("/late.html", 5, "new"),
        ("/news/a%20b.html", 2, "gone"),
        ("/news/a%20b.html", 4, "back"),
    ]
    assert [change.counts for change in changes] == [False, True, True, True]


def test_layers_with_the_fingerprint_of_the_loop() -> None:
    """By default a change counts if the useful content differs: the words of a page, the values of a table."""
    site = make_recording(
        "x",
        {
            "p.html": [(-1, "<p>news</p>"), (1, "<p  class=a>news</p>"), (2, "<p class=a>other</p>")],
            "d.csv": [(-1, "a,b\n1,2\n"), (1, "a,b \n1,2\n"), (3, "a,b\n1,3\n")],
        },
    )
    changes = what_happened([site], T0, T0 + 9 * DAY)
    assert [(change.url[-6:], change.counts) for change in changes] == [
        ("/d.csv", False),
        ("/d.csv", True),
        ("p.html", False),
        ("p.html", True),
    ]


def test_only_some_urls() -> None:
    """With `only`, only the changes of these URLs are returned."""
    changes = what_happened(
        [boost()], T0, T0 + 9 * DAY, compute_fingerprint=by_bytes, counts=never, only={"http://boost.test/"}
    )
    assert [change.kind for change in changes] == ["changed"]


@pytest.mark.parametrize("days", [(0, 731), (100, 130)])
def test_counts_equal_a_recount_by_brute_force(days: tuple[int, int]) -> None:
    """Comparing every page of the shipped sites at every publication instant finds the same changes."""
    start_at, end_at = (SHIPPED_WINDOW[0] + day * DAY for day in days)
    recordings = load_shipped()
    counted = Counter(
        (change.url, change.at)
        for change in what_happened(recordings, start_at, end_at, compute_fingerprint=by_bytes, counts=never)
    )
    recount: Counter[tuple[str, float]] = Counter()
    for recording in recordings:
        instants = sorted(
            {at for versions in recording.pages.values() for at, _ in versions if start_at < at <= end_at}
        )
        for path, versions in recording.pages.items():
            content = _linear(recording.contents, versions, start_at)
            for at in instants:
                now = _linear(recording.contents, versions, at)
                if now != content:
                    recount[recording.url(path), at] += 1
                content = now
    assert counted == recount
    assert counted.total() > 100


def _linear(contents: dict[str, bytes], versions: list[tuple[float, str | None]], at: float) -> bytes | None:
    found = None
    for published_at, blob in versions:
        if published_at <= at:
            found = contents[blob] if blob else None
    return found
