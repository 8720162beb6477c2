"""Two versions of a feed, compared entry by entry, without the contents.

A feed shows its latest entries. An entry that is older than all others and is not listed any more has left this
window: the feed did not change. New entries, entries with other contents, and entries that were removed from between
others are changes.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import RUN, Part


class FeedChange(Struct, frozen=True, kw_only=True):
    """What differs between two versions of a feed, as hashes of the entries (the values of their runs).

    `Observation.excerpts` has the titles of added and edited entries under these hashes.
    """

    added: tuple[int, ...] = ()
    edited: tuple[int, ...] = ()
    """The hashes in the later version."""
    removed: tuple[int, ...] = ()
    """Of the earlier version: entries that are missing although older ones are listed."""
    expired: int = 0
    """Number of entries that left the window."""
    older_edited: bool = False
    """The entries beyond the limit, which have one hash, differ, and their number and all other entries do not."""

    @property
    def counts(self) -> bool:
        """Whether a reader of the feed would find something new, changed or missing."""
        return bool(self.added or self.edited or self.removed or self.older_edited)

    @property
    def differing(self) -> int:
        """The number of entries that were added, edited or removed, as a measure of the size of a change."""
        return len(self.added) + len(self.edited) + len(self.removed) + self.older_edited


def feed_change(before_rows: bytes, after_rows: bytes) -> FeedChange | None:
    """Compare the entries of two versions, given as rows of `RUN` in the order of `observe` (the latest first).

    None if one of them has no entries.
    """
    before, after = _entries(before_rows), _entries(after_rows)
    if before is None or after is None:
        return None
    old, old_rest = before
    new, new_rest = after
    last_kept = max((place for place, name in enumerate(old) if name in new), default=-1)
    missing = [(place, value) for place, (name, value) in enumerate(old.items()) if name not in new]
    added = tuple(value for name, value in new.items() if name not in old)
    return FeedChange(
        added=added,
        edited=tuple(value for name, value in new.items() if name in old and old[name] != value),
        removed=tuple(value for place, value in missing if place < last_kept),
        expired=sum(place > last_kept for place, _ in missing),
        older_edited=not added and not missing and old_rest[0] == new_rest[0] and old_rest != new_rest,
    )


def _entries(packed: bytes) -> tuple[dict[int, int], tuple[int, int]] | None:
    """(Hash of the content by hash of the id, in order; number and hash of the entries beyond the limit), or None."""
    if not packed or len(packed) % RUN.itemsize:
        return None
    rows = np.frombuffer(packed, dtype=RUN)
    rows = rows[rows["part"] == Part.DATA]
    if not len(rows):
        return None
    single = rows["words"] == 1  # the row of the entries beyond the limit stands for several
    rest = rows[~single]
    entries = dict(zip(rows[single]["shape"].tolist(), rows[single]["value"].tolist(), strict=True))
    return entries, ((int(rest["words"][0]), int(rest["value"][0])) if len(rest) else (0, 0))
