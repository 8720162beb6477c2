"""The archive half of `webstrata check`: every byte of every file is read and compared with what points at it.

`bad`       a place in a file, or a record, that is not as it was written
`dangling`  an index line, or a position that the store names, with no such record behind it
`lost`      a capture that no index line leads to
`repaired`  things put right (only when asked to repair); what is mended is not counted above
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from webstrata.archive.index.cdxj import parse
from webstrata.archive.index.segment import growing_name, record_line, segment_name, sorted_segment, write_segment
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.repair import cut_tail, repair_archive
from webstrata.archive.warc.rules import record_faults
from webstrata.archive.warc.walk import OPEN_SUFFIX, archive_files, plain_name, walk
from webstrata.records import Position

Count = Literal["bad", "dangling", "lost", "repaired"]

# A wholly broken archive must not fill the memory with sentences about it; the counts go on.
_MAX_FINDINGS = 1000


class CheckFinding(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, or was put right."""

    count: Count
    file: str
    offset: int
    what: str
    do: str
    """What the reader of this can do."""


class ArchiveCheckResult(Struct, kw_only=True):
    """The result; `findings` holds the first thousand."""

    records: int = 0
    bad: int = 0
    dangling: int = 0
    lost: int = 0
    repaired: int = 0
    findings: list[CheckFinding] = []
    notes: list[str] = []
    """What could not be looked at, and what is nobody's fault."""


class ArchiveCheck:
    """One pass over an archive, then any number of positions from the store.

    With `repair`, growing leftovers are finished, torn ends cut (and kept beside), index segments written anew. No
    record is ever removed: damage inside a file is reported and left. Only while nothing writes the archive.
    """

    def __init__(
        self,
        archive_folder: Path,
        index_folder: Path,
        *,
        repair: bool = False,
        fsync: bool = True,
        on_progress: Callable[[int], object] = lambda count: None,
    ) -> None:
        self._archive = archive_folder
        self._index = index_folder
        self._repair = repair
        self._fsync = fsync
        self._on_progress = on_progress  # told of the bytes of every record that was read
        self._known: dict[str, _Captures] = {}
        self.result = ArchiveCheckResult()

    def run(self) -> ArchiveCheckResult:
        """Read all files. The result goes on counting when positions are checked."""
        if self._repair and self._archive.is_dir():
            for done in repair_archive(self._archive, self._index, fsync=self._fsync):
                self._note("repaired", done.file, 0, done.what, "nothing")
        for path in archive_files(self._archive):
            self._file(path)
        self._orphans()
        return self.result

    def position(self, position: Position, payload: str | None) -> bool:
        """Does the store's position lead to the record it means? Counted as dangling where not."""
        known = self._known.get(position.file)
        fault = known.fault(position, payload) if known else "no such file in the archive"
        if fault:
            advice = "bring the file back from a backup; the visit's row stays, its content cannot be shown"
            self._note("dangling", position.file, position.offset, f"the store points here: {fault}", advice)
        return fault is None

    def positions(self, named: Iterable[tuple[Position, str | None]]) -> ArchiveCheckResult:
        for position, payload in named:
            self.position(position, payload)
        return self.result

    def add_store_fault(self, what: str, do: str) -> None:
        """The database is not sound, or contradicts itself."""
        self._note("bad", "database", 0, what, do)

    def add_store_repair(self, what: str) -> None:
        self._note("repaired", "database", 0, what, "nothing")

    # ── one file ────────────────────────────────────────────────────────────────────────────────────────────

    def _file(self, path: Path) -> None:
        name = plain_name(path.name)
        captures = self._known[name] = _Captures()
        lines: list[bytes] = []
        for item in walk(path):
            self._on_progress(item.length)
            if isinstance(item, DamagedBytes):
                self._damage(path, item)
                continue
            self.result.records += 1
            for fault in record_faults(item):
                self._note("bad", name, item.offset, fault, "bring the file back from a backup")
            captures.add(item)
            line = record_line(item, name)
            if line:
                lines.append(line)
        self._compare(name, lines, growing=path.name.endswith(OPEN_SUFFIX))

    def _damage(self, path: Path, damage: DamagedBytes) -> None:
        name = plain_name(path.name)
        if damage.kind == "torn" and self._repair and path.name == name and path.name.endswith(".gz"):
            kept_in = cut_tail(path, damage.offset, fsync=self._fsync)
            what = f"{damage.length} torn bytes at the end were put into {kept_in}"
            self._note("repaired", name, damage.offset, what, "nothing")
            return
        advice = {
            "torn": "`webstrata check --repair` cuts the end and keeps the cut bytes beside",
            "damaged": "bring the file back from a backup; the records round it can be read",
            "shape": "`warcio recompress` can write it anew with one gzip member for each record",
        }[damage.kind]
        what = f"{damage.what} ({damage.length} bytes)"
        self._note("bad", name, damage.offset, what, advice)

    # ── the index ───────────────────────────────────────────────────────────────────────────────────────────

    def _compare(self, name: str, lines: list[bytes], *, growing: bool) -> None:
        """The segment against what the records say, both ways."""
        path = self._index / (growing_name(name) if growing else segment_name(name))
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            written = b""
        if written == sorted_segment(lines) or (growing and not lines):
            return
        there, due = Counter(written.splitlines(keepends=True)), Counter(lines)
        extra, absent = list((there - due).elements()), list((due - there).elements())
        if growing:
            absent = []  # lines follow the records a moment later; the next start completes them
            if not extra:
                return
        if self._repair and not growing:
            write_segment(self._index, name, lines, fsync=self._fsync)
            what = f"index segment rewritten ({len(extra)} wrong lines, {len(absent)} missing)"
            self._note("repaired", name, 0, what, "nothing")
            return
        for line in extra:
            self._line("dangling", name, line, "an index line without its record")
        for line in absent:
            self._line("lost", name, line, "a capture that the index does not list")
        if not extra and not absent:
            self._note("bad", path.name, 0, "index lines are not in order", _REINDEX)

    def _orphans(self) -> None:
        """Segments of files that are not there."""
        if not self._index.is_dir():
            return
        due = {made for name in self._known for made in (segment_name(name), growing_name(name))}
        for path in sorted(self._index.iterdir()):
            if path.name in due or not path.name.endswith((".cdxj", ".cdxj" + OPEN_SUFFIX)):
                continue
            if self._repair:
                path.rename(path.with_name(path.name + ".orphan"))
                self._note("repaired", path.name, 0, "segment of a missing file set aside as .orphan", "nothing")
                continue
            for line in path.read_bytes().splitlines(keepends=True):
                self._line("dangling", path.name, line, "an index line of a file that is not there")

    def _line(self, count: Count, file: str, line: bytes, what: str) -> None:
        entry = parse(line)
        where = f": {entry.url} {entry.timestamp}" if entry else f": {line[:80]!r}"
        self._note(count, file, entry.offset if entry else 0, what + where, _REINDEX)

    def _note(self, count: Count, file: str, offset: int, what: str, do: str) -> None:
        setattr(self.result, count, getattr(self.result, count) + 1)
        if len(self.result.findings) < _MAX_FINDINGS:
            finding = CheckFinding(count=count, file=file, offset=offset, what=what, do=do)
            self.result.findings.append(finding)


_REINDEX = "`webstrata reindex` (or `check --repair`) builds the index again from the records"


class _Captures:
    """Offsets of a file's captures with what names them: 24 bytes each, so that millions fit."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self._names = array("q")
        self._payloads = array("q")

    def add(self, record: WarcRecord) -> None:
        if record.kind not in ("response", "revisit", "resource") or not record.whole:
            return
        self._offsets.append(record.offset)
        self._names.append(hash(record.record_id))
        self._payloads.append(hash(record.field("warc-payload-digest") or ""))

    def fault(self, position: Position, payload: str | None) -> str | None:
        at = bisect_left(self._offsets, position.offset)
        if at == len(self._offsets) or self._offsets[at] != position.offset:
            return "no whole record starts here"
        if position.record_id and self._names[at] != hash(position.record_id):
            return "another record stands here"
        if payload and self._payloads[at] != hash(payload):
            return "the record has another payload"
        return None


def check_archive_files(
    archive_folder: Path,
    index_folder: Path,
    positions: Iterable[tuple[Position, str | None]] = (),
    *,
    repair: bool = False,
    fsync: bool = True,
) -> ArchiveCheckResult:
    """Check all files, then every position that the store names."""
    task = ArchiveCheck(archive_folder, index_folder, repair=repair, fsync=fsync)
    task.run()
    return task.positions(positions)
