"""The archive part of `webstrata check`: reads all files and compares them with the index and with the database.

Findings are of four kinds:

`bad`       a record that is damaged or not valid, or a faulty index segment or database
`dangling`  an index line or a position in the database without a matching record
`lost`      a capture without an index line
`repaired`  a repair that was made; a repaired fault is not counted as another kind
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from webstrata.archive.index.cdxj import at_of, parse
from webstrata.archive.index.segment import (
    growing_name,
    record_line,
    segment_name,
    sorted_segment,
    with_digest,
    write_segment,
)
from webstrata.archive.warc.capture_table import CaptureTable
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.repair import cut_tail, repair_archive
from webstrata.archive.warc.rules import record_faults
from webstrata.archive.warc.walk import OPEN_SUFFIX, archive_files, plain_name, walk
from webstrata.clock import iso
from webstrata.records import Original, Position, Visit

FindingKind = Literal["bad", "dangling", "lost", "repaired"]

# Of a gzip member that is kept in memory. The rest of a larger record is read once more, piece by piece.
_MAX_DATA_BYTES = 16 * 1024**2

# Limits the memory for the findings of a badly damaged archive; the counts cover all of them.
_MAX_FINDINGS = 1000


class CheckFinding(Struct, frozen=True, kw_only=True):
    """A fault, or a repair that was made."""

    count: FindingKind
    """The count of `ArchiveCheckResult` to which the finding belongs."""
    file: str
    offset: int
    what: str
    """What is wrong, or what was repaired."""
    do: str
    """What the user can do about it."""


class FindingGroup(Struct, kw_only=True):
    """All findings of a kind for which the same can be done."""

    count: FindingKind
    do: str
    number: int = 0


class ArchiveCheckResult(Struct, kw_only=True):
    """The number of records and of findings of each kind; `findings` holds the first 1,000."""

    records: int = 0
    bad: int = 0
    dangling: int = 0
    lost: int = 0
    repaired: int = 0
    findings: list[CheckFinding] = []
    groups: list[FindingGroup] = []
    """How many findings there are for each remedy."""
    notes: list[str] = []
    """What could not be checked, and observations that are not faults."""


class ArchiveCheck:
    """Checks all files of an archive (`run`), then any number of positions from the database (`check_position`).

    With `repair`, growing files are finished, torn ends are cut and saved to `.torn` files, and index segments are
    rewritten. No record is ever removed: damage inside a file is reported and left unchanged. No process may write to
    the archive during the check. `on_progress` is called with the number of bytes of each record read.
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
        self._on_progress = on_progress
        self._captures: dict[str, CaptureTable] = {}
        self.result = ArchiveCheckResult()
        self._groups: dict[tuple[FindingKind, str], FindingGroup] = {}

    def run(self) -> ArchiveCheckResult:
        """Check all files and the index. Later calls of `check_position` add to the same result."""
        if self._repair and self._archive.is_dir():
            for repaired in repair_archive(self._archive, self._index, fsync=self._fsync):
                self._add("repaired", repaired.file, 0, repaired.what, "nothing")
        for path in archive_files(self._archive):
            self._check_file(path)
        self._check_orphans()
        return self.result

    def check_position(self, position: Position, payload: str | None) -> None:
        """Check that a position from the database is the start of its record; if not, it is dangling."""
        self._leads_to_capture(position, payload)

    def check_visit(self, visit: Visit) -> None:
        """Compare all that a row of the log says of its records with these records."""
        for hop in visit.hops:
            if hop.position is not None:
                self._compare(hop.position, None, url=hop.url, status=hop.status)
        if visit.position is not None:
            url = None if visit.hops else visit.url
            self._compare(visit.position, visit.payload, url=url, status=visit.status)
        positions = [visit.position, *(hop.position for hop in visit.hops)]
        found = [position for position in positions if position is not None]
        # The time of a visit is that of its first exchange, which has no record if it brought no response.
        if found and len(found) == len(positions) and visit.position is not None:
            self._compare_time(visit.at, found)

    def check_original(self, original: Original) -> None:
        """Compare a row of the originals with its record."""
        captures = self._captures.get(original.file)
        for what in captures.original_differences(original) if captures else ["no such file in the archive"]:
            self._add("bad", original.file, original.offset, f"the original of {original.payload}: {what}", _REBUILD)

    def end_comparison(self) -> None:
        """To be called after the last `check_visit`: notes the captures that no row of the log names."""
        if unlogged := sum(captures.unlogged for captures in self._captures.values()):
            self.result.notes.append(
                f"{unlogged} captures of the archive are in no row of the log: a crawl was killed before it committed "
                "them, the database is older than the archive, or the files are of another program. Their pages are "
                "visited again; `webstrata rebuild --replace` adds the captures to the log."
            )

    def _compare(self, position: Position, payload: str | None, *, url: str | None, status: int | None) -> None:
        if not self._leads_to_capture(position, payload):
            return
        for what in self._captures[position.file].differences(position, url=url, status=status):
            self._add("bad", position.file, position.offset, what, _REBUILD)

    def _compare_time(self, at: float, positions: Sequence[Position]) -> None:
        times = [self._captures[one.file].at(one.offset) for one in positions if one.file in self._captures]
        known = [time for time in times if time is not None]
        if len(known) == len(positions) and min(known) != at_of(iso(at)):
            first = positions[0]
            what = f"the time in the log is {iso(at)}, that of the record {iso(min(known))}"
            self._add("bad", first.file, first.offset, what, _REBUILD)

    def _leads_to_capture(self, position: Position, payload: str | None) -> bool:
        captures = self._captures.get(position.file)
        fault = captures.fault(position, payload) if captures else "no such file in the archive"
        if fault:
            advice = "restore the file from a backup; until then the content of this visit cannot be shown"
            self._add("dangling", position.file, position.offset, f"a position in the database: {fault}", advice)
        return fault is None

    def add_store_fault(self, what: str, do: str) -> None:
        """Add a fault of the database."""
        self._add("bad", "database", 0, what, do)

    def add_note(self, what: str) -> None:
        self.result.notes.append(what)

    def add_store_repair(self, what: str) -> None:
        """Add a repair of the database."""
        self._add("repaired", "database", 0, what, "nothing")

    # ── one file ────────────────────────────────────────────────────────────────────────────────────────────

    def _check_file(self, path: Path) -> None:
        name = plain_name(path.name)
        captures = self._captures[name] = CaptureTable()
        lines: list[bytes] = []
        for item in walk(path, max_data_bytes=_MAX_DATA_BYTES):
            self._on_progress(item.length)
            if isinstance(item, DamagedBytes):
                self._check_damage(path, item)
                continue
            self.result.records += 1
            for fault in record_faults(item, path):
                self._add("bad", name, item.offset, fault, "restore the file from a backup")
            captures.add(item)
            line = record_line(with_digest(path, item), name)
            if line:
                lines.append(line)
        self._check_segment(name, lines, growing=path.name.endswith(OPEN_SUFFIX))

    def _check_damage(self, path: Path, damage: DamagedBytes) -> None:
        name = plain_name(path.name)
        if damage.kind == "torn" and self._repair and path.name == name and path.name.endswith(".gz"):
            kept_in = cut_tail(path, damage.offset, fsync=self._fsync)
            what = f"{damage.length} torn bytes at the end were saved to {kept_in}"
            self._add("repaired", name, damage.offset, what, "nothing")
            return
        advice = {
            "torn": "`webstrata check --repair` cuts the torn end and saves it to a .torn file",
            "damaged": "restore the file from a backup; the other records of the file can be read",
            "shape": "`warcio recompress` can rewrite the file with one gzip member for each record",
        }[damage.kind]
        what = f"{damage.what} ({damage.length} bytes)"
        self._add("bad", name, damage.offset, what, advice)

    # ── the index ───────────────────────────────────────────────────────────────────────────────────────────

    def _check_segment(self, name: str, lines: list[bytes], *, growing: bool) -> None:
        """Compare the lines of a segment with the lines rebuilt from the records."""
        path = self._index / (growing_name(name) if growing else segment_name(name))
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            written = b""
        if written == sorted_segment(lines) or (growing and not lines):
            return
        actual, expected = Counter(written.splitlines(keepends=True)), Counter(lines)
        extra, absent = list((actual - expected).elements()), list((expected - actual).elements())
        if growing:
            absent = []  # lines are written after their records; the repair at the next start completes them
            if not extra:
                return
        if self._repair and not growing:
            write_segment(self._index, name, lines, fsync=self._fsync)
            what = f"index segment rewritten ({len(extra)} wrong lines, {len(absent)} missing lines)"
            self._add("repaired", name, 0, what, "nothing")
            return
        for line in extra:
            self._add_line("dangling", name, line, "index line without a record")
        for line in absent:
            self._add_line("lost", name, line, "capture without an index line")
        if not extra and not absent:
            self._add("bad", path.name, 0, "index lines are not sorted", _REINDEX)

    def _check_orphans(self) -> None:
        """Report or rename segments of missing files."""
        if not self._index.is_dir():
            return
        expected = {segment for name in self._captures for segment in (segment_name(name), growing_name(name))}
        for path in sorted(self._index.iterdir()):
            if path.name in expected or not path.name.endswith((".cdxj", ".cdxj" + OPEN_SUFFIX)):
                continue
            if self._repair:
                path.rename(path.with_name(path.name + ".orphan"))
                self._add("repaired", path.name, 0, "index segment of a missing file renamed to .orphan", "nothing")
                continue
            for line in path.read_bytes().splitlines(keepends=True):
                self._add_line("dangling", path.name, line, "index line of a missing file")

    def _add_line(self, count: FindingKind, file: str, line: bytes, what: str) -> None:
        entry = parse(line)
        where = f": {entry.url} {entry.timestamp}" if entry else f": {line[:80]!r}"
        self._add(count, file, entry.offset if entry else 0, what + where, _REINDEX)

    def _add(self, count: FindingKind, file: str, offset: int, what: str, do: str) -> None:
        setattr(self.result, count, getattr(self.result, count) + 1)
        group = self._groups.get((count, do))
        if group is None:
            group = self._groups[count, do] = FindingGroup(count=count, do=do)
            self.result.groups.append(group)
        group.number += 1
        # The list ends at its limit, but the first finding of each remedy is always in it.
        if len(self.result.findings) < _MAX_FINDINGS or group.number == 1:
            finding = CheckFinding(count=count, file=file, offset=offset, what=what, do=do)
            self.result.findings.append(finding)


_REBUILD = (
    "restore the database from a backup, or run `webstrata rebuild --replace`, which makes it again from the records"
)
_REINDEX = "`webstrata reindex` or `webstrata check --repair` rebuilds the index from the records"
