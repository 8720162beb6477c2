"""The difference of two versions of a feed, entry by entry.

A feed shows its latest entries only: old ones leave at its end when new ones come. Such entries are listed apart from
entries that were removed from among the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

_MAX_LISTED = 10_000
_FIELDS = ("title", "link", "updated", "content")


class EntryVersion(Struct, frozen=True, kw_only=True):
    """An entry of a feed in one version."""

    id: str = ""
    """Identifies the entry in both versions; if it is empty, the link or else the title does."""
    title: str = ""
    link: str = ""
    updated: str = ""
    """The entry's own time, for display."""
    content: str = ""
    """The text of its content or summary."""

    @property
    def key(self) -> str:
        return self.id or self.link or self.title


class FieldChange(Struct, frozen=True, kw_only=True):
    """A named value that differs; None if it was added or removed."""

    name: str
    before: str | None = None
    after: str | None = None


class EntryChange(Struct, frozen=True, kw_only=True):
    """An entry that both versions have, with the fields that differ."""

    title: str
    link: str
    updated: str
    """These three in the new version."""
    fields: tuple[FieldChange, ...]


class FeedDifference(Struct, frozen=True, kw_only=True):
    """Entries in the order of the feed. Each list has at most 10,000 entries; the counts cover all."""

    added: tuple[EntryVersion, ...] = ()
    changed: tuple[EntryChange, ...] = ()
    removed: tuple[EntryVersion, ...] = ()
    """Entries that stood before others that the feed still has."""
    expired: tuple[EntryVersion, ...] = ()
    """Entries at the end of the old version that the new one no longer shows."""
    added_count: int = 0
    changed_count: int = 0
    removed_count: int = 0
    expired_count: int = 0

    @property
    def empty(self) -> bool:
        return not (self.added or self.changed or self.removed or self.expired)


def feed_difference(before: Sequence[EntryVersion], after: Sequence[EntryVersion]) -> FeedDifference:
    """Compare the entries of two versions."""
    old, new = _by_key(before), _by_key(after)
    kept = [index for index, key in enumerate(old) if key in new]
    # A feed whose newest entry comes last loses entries at its start. Without a common entry all may have expired.
    first, last = (kept[0], kept[-1]) if kept else (len(old), -1)
    is_newest_last = bool(kept) and first > 0 and last == len(old) - 1 and next(reversed(new)) not in old
    missing = [(index, entry) for index, (key, entry) in enumerate(old.items()) if key not in new]
    expired = [entry for index, entry in missing if (index < first if is_newest_last else index > last)]
    removed = [entry for index, entry in missing if not (index < first if is_newest_last else index > last)]
    added = [entry for key, entry in new.items() if key not in old]
    changed = [
        EntryChange(title=entry.title, link=entry.link, updated=entry.updated, fields=fields)
        for key, entry in new.items()
        if key in old and (fields := _fields(old[key], entry))
    ]
    return FeedDifference(
        added=tuple(added[:_MAX_LISTED]),
        changed=tuple(changed[:_MAX_LISTED]),
        removed=tuple(removed[:_MAX_LISTED]),
        expired=tuple(expired[:_MAX_LISTED]),
        added_count=len(added),
        changed_count=len(changed),
        removed_count=len(removed),
        expired_count=len(expired),
    )


def _by_key(entries: Iterable[EntryVersion]) -> dict[str, EntryVersion]:
    """The entries by key, in order; of entries with the same key the first."""
    found: dict[str, EntryVersion] = {}
    for entry in entries:
        found.setdefault(entry.key, entry)
    return found


def _fields(before: EntryVersion, after: EntryVersion) -> tuple[FieldChange, ...]:
    values = ((name, getattr(before, name), getattr(after, name)) for name in _FIELDS)
    return tuple(
        FieldChange(name=name, before=old or None, after=new or None) for name, old, new in values if old != new
    )
