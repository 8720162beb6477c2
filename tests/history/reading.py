"""Reads sources of copies to their end, as an import does."""

from __future__ import annotations

import asyncio

from webstrata.ports import CopySource
from webstrata.records import ReadBatch


def batches_of(source: CopySource, position: str = "") -> list[ReadBatch]:
    """All batches of a source from a position on."""

    async def read() -> list[ReadBatch]:
        return [batch async for batch in source.batches(position)]

    return asyncio.run(read())


def counts_of(batches: list[ReadBatch]) -> dict[str, int]:
    """The numbers of rows: `kept`, and each reason; they must add up to the rows read."""
    counts = {"kept": sum(len(batch.copies) for batch in batches)}
    for batch in batches:
        for reason, number in batch.skipped_counts.items():
            counts[reason] = counts.get(reason, 0) + number
        assert batch.read == len(batch.copies) + sum(batch.skipped_counts.values())
        assert len(batch.places) in (0, len(batch.copies))
    return counts
