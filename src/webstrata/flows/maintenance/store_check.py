"""`StoreCheck`: is the database sound, do its rows agree with each other, and do they agree with the archive?"""

from __future__ import annotations

from typing import Protocol

from msgspec import MsgspecError

from webstrata.ports import Store
from webstrata.records import Original, Position, Visit

_RESTORE = (
    "restore the database from a backup, or run `webstrata rebuild --replace`, which makes it again from the archive"
)
_RECOMPUTE = "`webstrata check --repair` recomputes it from the other rows"


class ArchiveComparison(Protocol):
    """The check of the archive, which compares rows of the log with its records and collects what is found."""

    def check_position(self, position: Position, payload: str | None) -> None: ...

    def check_visit(self, visit: Visit) -> None: ...

    def check_original(self, original: Original) -> None: ...

    def end_comparison(self) -> None:
        """All visits and originals were compared."""
        ...

    def add_store_fault(self, what: str, do: str) -> None: ...

    def add_store_repair(self, what: str) -> None: ...

    def add_note(self, what: str) -> None: ...


class StoreCheck:
    """One check. `deep`: every value is compared with its checksum, and the log with the records in full."""

    def __init__(self, store: Store, archive: ArchiveComparison, *, repair: bool, deep: bool) -> None:
        self._store = store
        self._archive = archive
        self._repair = repair
        self._deep = deep

    async def run(self, now: float) -> None:
        is_sound = await self._has_sound_files()
        if is_sound:
            await self._compare_rows()
            if stale := await self._store.queue.stale_leases(now):
                self._archive.add_note(f"{stale} leases expired without a visit; the next crawl visits their pages.")
        try:
            await self._compare_log(in_full=self._deep and is_sound)
        except (MsgspecError, ValueError, KeyError, TypeError) as problem:
            self._archive.add_store_fault(f"a row of the log cannot be read: {problem}", _RESTORE)

    async def _has_sound_files(self) -> bool:
        """Check the files of the database; the rows of a damaged one prove nothing."""
        maintenance = self._store.maintenance
        files = await maintenance.check_engine()
        faults, notes = [*files.faults], [*files.unchecked]
        if self._deep and not faults:
            faults += await maintenance.schema_faults()
            changed = await maintenance.changed_rows()
            faults += changed.faults
            notes += changed.unchecked
        for fault in faults:
            self._archive.add_store_fault(fault, _RESTORE)
        for note in notes:
            self._archive.add_note(note)
        return not faults

    async def _compare_rows(self) -> None:
        """Compare the rows with each other, and recompute those that can be."""
        maintenance = self._store.maintenance
        before = after = await maintenance.contradictions()
        if self._repair and any(contradiction.is_derived for contradiction in before):
            await maintenance.recount()
            after = await maintenance.contradictions()
        for contradiction in before:
            if contradiction not in after:
                self._archive.add_store_repair(contradiction.what)
        if self._deep:
            after = [*after, *await maintenance.log_contradictions()]
        for contradiction in after:
            self._archive.add_store_fault(contradiction.what, _RECOMPUTE if contradiction.is_derived else _RESTORE)

    async def _compare_log(self, *, in_full: bool) -> None:
        """Compare the log with the records of the archive: all that both say, or only the positions."""
        log = self._store.visit_log
        if not in_full:
            async for position, payload in log.positions():
                self._archive.check_position(position, payload)
            return
        async for visit in log.all_visits():
            self._archive.check_visit(visit)
        async for original in log.all_originals():
            self._archive.check_original(original)
        self._archive.end_comparison()
