from __future__ import annotations

from webstrata.detect.diff.feed import EntryVersion, FieldChange, feed_difference


def _entries(*names: str) -> list[EntryVersion]:
    return [EntryVersion(id=name, title=name) for name in names]


def _ids(entries: tuple[EntryVersion, ...]) -> list[str]:
    return [entry.id for entry in entries]


def test_new_changed_and_removed() -> None:
    """Entries are compared one by one, with the fields that differ."""
    before = [*_entries("gone"), EntryVersion(id="1", title="Old title", link="http://a.test/1", content="text")]
    after = [*_entries("new"), EntryVersion(id="1", title="New title", link="http://a.test/1", content="text")]

    found = feed_difference(before, after)

    assert (_ids(found.added), _ids(found.removed), found.expired) == (["new"], ["gone"], ())
    assert [entry.title for entry in found.changed] == ["New title"]
    assert found.changed[0].fields == (FieldChange(name="title", before="Old title", after="New title"),)


def test_entries_that_leave_the_window() -> None:
    """Entries at the end of the old version that are missing in the new one are not called removed."""
    found = feed_difference(_entries("5", "4", "3", "2", "1"), _entries("7", "6", "5", "3"))

    assert _ids(found.added) == ["7", "6"]
    assert _ids(found.removed) == ["4"]
    assert _ids(found.expired) == ["2", "1"]


def test_newest_last() -> None:
    """A feed that adds entries at its end loses old ones at its start."""
    found = feed_difference(_entries("1", "2", "3"), _entries("2", "3", "4"))

    assert (_ids(found.removed), _ids(found.expired)) == ([], ["1"])


def test_no_common_entry() -> None:
    """If all entries are new, the old ones may all have left at the end."""
    found = feed_difference(_entries("1", "2"), _entries("3", "4"))

    assert (_ids(found.added), _ids(found.removed), _ids(found.expired)) == (["3", "4"], [], ["1", "2"])


def test_equal_feeds() -> None:
    """The order of entries is no difference; entries without an id are identified by their link."""
    before = [EntryVersion(link="http://a.test/1"), EntryVersion(link="http://a.test/2")]

    assert feed_difference(before, before[::-1]).empty


def test_limits() -> None:
    """The list ends at 10,000 entries, the count does not."""
    found = feed_difference([], _entries(*map(str, range(12_000))))

    assert (len(found.added), found.added_count) == (10_000, 12_000)
