"""Import of copies from a source: in batches, each stored in one transaction together with the progress of the import.

So an import that was ended at any time, even by `kill -9`, continues after its last whole batch. The counts of a batch
are made before it is stored: a transaction that the store repeats does not change them. Memory does not grow with the
source: what is remembered is one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import iso
from webstrata.ports import CopySource, Store
from webstrata.records import (
    ArchivedCopy,
    ContentFeatures,
    ImportProgress,
    NewPage,
    PageState,
    ReadBatch,
    SkippedRow,
    SkipReason,
)
from webstrata.urls import host_of
from webstrata.wanted_pages import WantedPages

_SHOWN_ROWS = 100
"""Duplicates of a batch that are listed."""

OnBatch = Callable[[ReadBatch, ImportProgress], object]
"""Called after each batch, with all rows that were left out and the progress that was stored."""


class ImportResult(Struct, frozen=True, kw_only=True):
    """What an import did."""

    key: str
    read: int
    """Rows of the source, also those that earlier runs of this import read."""
    kept: int
    skipped: dict[str, int]
    finished_before: ImportProgress | None = None
    """Set if the import had been finished before: nothing was read, and all counts are 0."""
    continued_from: int = 0
    """Rows that earlier runs had read."""


async def import_copies(
    store: Store,
    source: CopySource,
    now: float,
    *,
    wanted: WantedPages,
    dry_run: bool = False,
    restart: bool = False,
    watch: bool = False,
    on_batch: OnBatch = lambda batch, progress: None,
) -> ImportResult:
    """Import a source, or go on with its import.

    `dry_run`: read everything from the start, and store nothing. `restart`: read from the start although the source was
    read before; copies that are stored are not added again. `watch`: also watch the pages that are kept.
    """
    key = f"{source.key} {wanted.key}".rstrip()
    before = None if dry_run or restart else await store.copies.progress(key)
    if before is not None and before.is_finished:
        return ImportResult(key=key, read=0, kept=0, skipped={}, finished_before=before)
    progress = before or ImportProgress(key=key, at=now)
    batches = _Batches(store, wanted, now, is_dry=dry_run, watch=watch)
    async for batch in source.batches(progress.position):
        batch, progress = await batches.add(batch, progress)
        on_batch(batch, progress)
    if not dry_run:
        progress = replace(progress, at=now, is_finished=True)
        await store.copies.add([], progress, now)
    return ImportResult(
        key=key,
        read=progress.read,
        kept=progress.kept,
        skipped=progress.skipped,
        continued_from=before.read if before is not None else 0,
    )


class _Batches:
    """Stores batches with the progress after each of them."""

    def __init__(self, store: Store, wanted: WantedPages, now: float, *, is_dry: bool, watch: bool) -> None:
        self._store = store
        self._wanted = wanted
        self._now = now
        self._is_dry = is_dry
        self._watch = watch
        self._last_keys: set[tuple[str, float]] = set()
        """Of a dry run: the copies of the last batch, which the store does not have."""

    async def add(self, batch: ReadBatch, progress: ImportProgress) -> tuple[ReadBatch, ImportProgress]:
        """Store the batch; returns it as it was kept, and the progress."""
        counts = dict(batch.skipped_counts)
        skipped = list(batch.skipped)
        wanted = await self._wanted_copies(batch, counts)
        kept = await self._new(wanted, counts, skipped)
        total = dict(progress.skipped)
        for reason, number in counts.items():
            total[reason] = total.get(reason, 0) + number
        progress = replace(
            progress,
            position=batch.position,
            read=progress.read + batch.read,
            kept=progress.kept + len(kept),
            skipped=total,
            at=self._now,
        )
        if not self._is_dry:
            # Copies that are stored already are given again: they may have a content that the stored ones lack.
            copies = [copy for copy, _ in wanted]
            if batch.features or self._watch:
                await self._add_pages(copies, batch.features)
            await self._store.copies.add(copies, progress, self._now)
        return replace(batch, copies=kept, places=[], skipped=skipped, skipped_counts=counts), progress

    async def _wanted_copies(self, batch: ReadBatch, counts: dict[str, int]) -> list[tuple[ArchivedCopy, str]]:
        """The copies of wanted pages with their places; the others are counted."""
        reasons: dict[str, SkipReason | None] = {}
        for copy in batch.copies:
            if copy.url not in reasons:
                reasons[copy.url] = self._wanted.left_out(copy.url)
        if self._wanted.watched:
            asked = [url for url, reason in reasons.items() if reason is None]
            pages = await self._store.pages.by_url(asked)
            watched = {url for url, page in pages.items() if page.state is PageState.ACTIVE}
            reasons |= {url: "outside" for url in asked if url not in watched}
        wanted: list[tuple[ArchivedCopy, str]] = []
        for copy, where in zip(batch.copies, batch.places or repeat(""), strict=False):
            if (reason := reasons[copy.url]) is None:
                wanted.append((copy, where))
            else:
                counts[reason] = counts.get(reason, 0) + 1
        return wanted

    async def _new(
        self, wanted: Sequence[tuple[ArchivedCopy, str]], counts: dict[str, int], skipped: list[SkippedRow]
    ) -> list[ArchivedCopy]:
        """The copies that are neither stored nor earlier in this batch; the others are counted."""
        keys = [(copy.url, copy.at) for copy, _ in wanted]
        known = {key for key, is_stored in zip(keys, await self._store.copies.stored(keys), strict=True) if is_stored}
        known |= self._last_keys
        new: list[ArchivedCopy] = []
        for key, (copy, where) in zip(keys, wanted, strict=True):
            if key not in known:
                known.add(key)
                new.append(copy)
                continue
            counts["duplicate"] = counts.get("duplicate", 0) + 1
            if len(skipped) < _SHOWN_ROWS:
                detail = f"there is a copy of {copy.url} at {iso(copy.at)}"
                skipped.append(SkippedRow(reason="duplicate", where=where or copy.archive, detail=detail))
        self._last_keys = set(keys) if self._is_dry else set()
        return new

    async def _add_pages(self, copies: Sequence[ArchivedCopy], features: Sequence[ContentFeatures]) -> None:
        """Add the pages before their copies, and what is stored of the pages themselves. All of it can be repeated."""
        state = PageState.ACTIVE if self._watch else PageState.CAPTURED
        urls = sorted({copy.url for copy in copies})
        if not self._watch:
            known = await self._store.pages.known(urls)
            urls = [url for url in urls if url not in known]
        await self._store.pages.add([NewPage(url=url, host=host_of(url), state=state) for url in urls], self._now)
        latest = {one.url: one for one in sorted(features, key=lambda one: one.at)}
        ids = await self._store.pages.known(sorted(latest))
        await self._store.facts.save_features(
            {ids[url]: one.features for url, one in latest.items() if url in ids},
            {ids[url]: one.at for url, one in latest.items() if url in ids},
        )
