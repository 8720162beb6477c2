"""Versions of feeds, compared entry by entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.feed_entries import FeedChange, feed_change
from webstrata.observe.data.data_field import MAX_ENTRIES
from webstrata.observe.page import observation_fields, observe

URL = "https://example.org/feed"


def rows(entries: dict[int, str], *, dated: bool = True) -> bytes:
    """The rows of a feed with entries by number; a higher number is a later day."""
    items = "".join(
        f"<item><guid>id{number}</guid><title>{title}</title>"
        + (f"<pubDate>{1 + number % 28:02d} Jan {2000 + number // 28} 00:00:00 GMT</pubDate>" if dated else "")
        + "</item>"
        for number, title in entries.items()
    )
    body = f"<rss><channel><title>All</title>{items}</channel></rss>".encode()
    return observation_fields(observe(body, "application/rss+xml", URL)).lines


def change(before: dict[int, str], after: dict[int, str], *, dated: bool = True) -> FeedChange:
    found = feed_change(rows(before, dated=dated), rows(after, dated=dated))
    assert found is not None
    return found


def numbers(*values: int) -> dict[int, str]:
    return {value: f"Entry {value}" for value in values}


def test_an_entry_that_leaves_the_window_is_no_change() -> None:
    """The oldest entries are missing, in any order of the feed."""
    for before, after in ((numbers(5, 4, 3, 2), numbers(5, 4)), (numbers(2, 3, 4, 5), numbers(4, 5))):
        found = change(before, after)
        assert (found.counts, found.expired, found.differing) == (False, 2, 0)
    undated = change(numbers(5, 4, 3), numbers(5, 4), dated=False)
    assert (undated.counts, undated.expired) == (False, 1)


def test_a_new_entry_is_a_change() -> None:
    """A new entry counts, whether or not another leaves the window for it."""
    found = change(numbers(5, 4, 3), numbers(6, 5, 4))
    assert (found.counts, len(found.added), found.expired, found.differing) == (True, 1, 1, 1)
    whole = change(numbers(3, 2, 1), numbers(6, 5, 4))
    assert (len(whole.added), whole.expired, whole.removed) == (3, 3, ())


def test_an_edited_and_a_removed_entry_are_changes() -> None:
    """Another title counts; so does an entry that is missing between others."""
    edited = change(numbers(5, 4, 3), {**numbers(5, 4, 3), 4: "Corrected"})
    assert (edited.counts, len(edited.edited), edited.added) == (True, 1, ())
    removed = change(numbers(5, 4, 3), numbers(5, 3))
    assert (removed.counts, len(removed.removed), removed.expired) == (True, 1, 0)
    latest = change(numbers(5, 4, 3), numbers(4, 3))
    assert len(latest.removed) == 1


def test_excerpts_name_the_new_entries() -> None:
    """The hashes of added and edited entries are the keys of the excerpts."""
    before = rows(numbers(5, 4))
    body = b"<rss><channel><item><guid>id9</guid><title>Fresh &amp; new</title></item></channel></rss>"
    fields = observation_fields(observe(body, "application/rss+xml", URL), before)
    found = feed_change(before, fields.lines)
    assert found is not None
    assert [fields.excerpts[value] for value in found.added] == ["Fresh & new"]


def test_entries_beyond_the_limit() -> None:
    """Older entries beyond the limit count only if nothing can have moved there."""
    many = numbers(*range(1, MAX_ENTRIES + 50))
    assert change(many, {**many, 3: "Corrected"}).older_edited
    shifted = change(many, {**many, **numbers(MAX_ENTRIES + 50)})
    assert (len(shifted.added), shifted.older_edited, shifted.removed) == (1, False, ())
    assert not change(many, dict(list(many.items())[20:])).counts


@given(st.sets(st.integers(1, 300), min_size=1, max_size=12), st.integers(0, 11))
def test_only_the_old_end_may_disappear(entries: set[int], kept: int) -> None:
    """Any shorter window of the same entries is no change; the same entries are no change in any order."""
    newest = sorted(entries, reverse=True)
    window = newest[: 1 + kept % len(newest)]
    assert not change(numbers(*entries), numbers(*window)).counts
    assert change(numbers(*newest), numbers(*sorted(entries))) == FeedChange()


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_any_bytes(before: bytes, after: bytes) -> None:
    """Rows that are not valid give no verdict or one, never an error."""
    assert feed_change(before, after) is None or isinstance(feed_change(before, after), FeedChange)
    assert feed_change(b"", after) is None
