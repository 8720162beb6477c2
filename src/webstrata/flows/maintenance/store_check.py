"""`StoreCheck`: is the database sound, do its rows agree with each other, and do they agree with the archive?"""

from __future__ import annotations

from typing import Protocol

from msgspec import MsgspecError

from webstrata.errors import DamagedStore
from webstrata.ports import Store
from webstrata.records import FindingKind, Original, Position, Visit


class ArchiveComparison(Protocol):
    """The check of the archive, which compares rows of the log with its records and collects what is found."""

    def check_position(self, position: Position, payload: str | None) -> None: ...

    def check_visit(self, visit: Visit) -> None: ...

    def check_original(self, original: Original) -> None: ...

    def end_comparison(self) -> None:
        """All visits and originals were compared."""
        ...


class FoundFaults(Protocol):
    """Collects what the check finds."""

    def add(self, kind: FindingKind, what: str) -> None:
        """Add a fault of the database, or a repair."""
        ...

    def note(self, what: str) -> None:
        """Add what is not a fault."""
        ...


_UNREADABLE = (MsgspecError, ValueError, KeyError, TypeError)
"""What reading rows raises whose values have other types or are not those of the program."""


class StoreCheck:
    """One check. `deep`: every value is compared with its checksum, and the log with the records in full."""

    def __init__(
        self, store: Store, archive: ArchiveComparison, found: FoundFaults, *, repair: bool, deep: bool
    ) -> None:
        self._store = store
        self._archive = archive
        self._found = found
        self._repair = repair
        self._deep = deep

    async def run(self, now: float) -> None:
        is_sound = await self._has_sound_files()
        try:
            if is_sound:
                await self._compare_rows()
                if stale := await self._store.queue.stale_leases(now):
                    self._found.note(f"{stale} leases expired without a visit; the next crawl visits their pages.")
            await self._compare_log(in_full=self._deep and is_sound)
        except _UNREADABLE as problem:
            self._found.add(FindingKind.UNREADABLE_ROW, f"a row cannot be read: {problem}")
        except DamagedStore as problem:
            if is_sound:
                self._found.add(FindingKind.DATABASE_FILE, problem.fault)

    async def _has_sound_files(self) -> bool:
        """Check the files of the database; the rows of a damaged one prove nothing."""
        maintenance = self._store.maintenance
        try:
            files = await maintenance.check_engine()
        except DamagedStore as problem:
            self._found.add(FindingKind.DATABASE_FILE, problem.fault)
            return False
        notes = [*files.unchecked]
        faults = [(FindingKind.DATABASE_FILE, what) for what in files.faults]
        if self._deep and not faults:
            faults += [(FindingKind.CHANGED_DEFINITION, what) for what in await maintenance.schema_faults()]
            changed = await maintenance.changed_rows()
            faults += [(FindingKind.CHANGED_VALUE, what) for what in changed.faults]
            notes += changed.unchecked
        for kind, what in faults:
            self._found.add(kind, what)
        for note in notes:
            self._found.note(note)
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
                self._found.add(FindingKind.REPAIR, contradiction.what)
        for contradiction in after:
            kind = FindingKind.WRONG_COUNT if contradiction.is_derived else FindingKind.LOST_ROW
            self._found.add(kind, contradiction.what)
        if self._deep:
            for contradiction in await maintenance.log_contradictions():
                self._found.add(FindingKind.PAGE_AND_LOG, contradiction.what)

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
