"""The rows of a batch while it is read."""

from __future__ import annotations

from webstrata.records import ArchivedCopy, ReadBatch, SkippedRow, SkipReason

BATCH_ROWS = 5_000
"""A batch is finished when it has so many rows."""
_KEPT_SKIPPED = 1_000
_MAX_DETAIL = 200


class BatchRows:
    """Collects copies and skipped rows; every row is one of the two."""

    def __init__(self) -> None:
        self._copies: list[ArchivedCopy] = []
        self._places: list[str] = []
        self._skipped: list[SkippedRow] = []
        self._counts: dict[str, int] = {}
        self.read = 0

    def keep(self, copy: ArchivedCopy, where: str) -> None:
        """Add the copy of a row."""
        self.read += 1
        self._copies.append(copy)
        self._places.append(where)

    def skip(self, reason: SkipReason, where: str, detail: str = "") -> None:
        """Count a row that is left out."""
        self.read += 1
        self._counts[reason] = self._counts.get(reason, 0) + 1
        if len(self._skipped) < _KEPT_SKIPPED:
            self._skipped.append(SkippedRow(reason=reason, where=where, detail=detail[:_MAX_DETAIL]))

    def finished(self, position: str, done: float | None) -> ReadBatch:
        """The batch, with the position after it."""
        return ReadBatch(
            copies=self._copies,
            places=self._places,
            skipped=self._skipped,
            skipped_counts=self._counts,
            read=self.read,
            position=position,
            done=done,
        )
