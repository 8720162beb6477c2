"""The archive part of `webstrata check`: reads all files and compares them with the index and with the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

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
from webstrata.archive.warc.file_name import is_written_by
from webstrata.archive.warc.findings import CheckFindings
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.repair import cut_tail, repair_archive
from webstrata.archive.warc.rules import record_faults
from webstrata.archive.warc.walk import OPEN_SUFFIX, archive_files, plain_name, walk
from webstrata.clock import iso
from webstrata.records import CheckResult, FindingKind, Original, Position, Visit

# Of a gzip member that is kept in memory. The rest of a larger record is read once more, piece by piece.
_MAX_DATA_BYTES = 16 * 1024**2


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
        self.other_homes: Sequence[str] = ()
        """The names of archivers whose visits are in the same database."""
        self._archive = archive_folder
        self._index = index_folder
        self._repair = repair
        self._fsync = fsync
        self._on_progress = on_progress
        self._captures: dict[str, CaptureTable] = {}
        self.findings = CheckFindings()

    @property
    def result(self) -> CheckResult:
        return self.findings.result

    def run(self) -> CheckResult:
        """Check all files and the index. Later calls of `check_position` add to the same result."""
        if self._repair and self._archive.is_dir():
            for repaired in repair_archive(self._archive, self._index, fsync=self._fsync):
                self._add(FindingKind.REPAIR, repaired.file, 0, repaired.what)
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
        if captures is None:
            what = f"the original of {original.payload}: no such file in the archive"
            self._add(FindingKind.MISSING_FILE, original.file, original.offset, what)
            return
        for what in captures.original_differences(original):
            what = f"the original of {original.payload}: {what}"
            self._add(FindingKind.LOG_AND_RECORD, original.file, original.offset, what)

    def end_comparison(self) -> None:
        """To be called after the last `check_visit`: notes the captures that no row of the log names."""
        if unlogged := sum(captures.unlogged for captures in self._captures.values()):
            self.findings.note(
                f"{unlogged} captures of the archive are in no row of the log: a crawl was killed before it committed "
                "them, the database is older than the archive, or the files are of another program. Their pages are "
                "visited again; `webstrata rebuild --replace` adds the captures to the log."
            )

    def _compare(self, position: Position, payload: str | None, *, url: str | None, status: int | None) -> None:
        if not self._leads_to_capture(position, payload):
            return
        for what in self._captures[position.file].differences(position, url=url, status=status):
            self._add(FindingKind.LOG_AND_RECORD, position.file, position.offset, what)

    def _compare_time(self, at: float, positions: Sequence[Position]) -> None:
        times = [self._captures[one.file].at(one.offset) for one in positions if one.file in self._captures]
        known = [time for time in times if time is not None]
        if len(known) == len(positions) and min(known) != at_of(iso(at)):
            first = positions[0]
            what = f"the time in the log is {iso(at)}, that of the record {iso(min(known))}"
            self._add(FindingKind.LOG_AND_RECORD, first.file, first.offset, what)

    def _leads_to_capture(self, position: Position, payload: str | None) -> bool:
        captures = self._captures.get(position.file)
        if captures is None and any(is_written_by(position.file, node) for node in self.other_homes):
            self.result.elsewhere += 1
            return False
        if captures is None:
            self._add(FindingKind.MISSING_FILE, position.file, position.offset, "no such file in the archive")
            return False
        fault = captures.fault(position, payload)
        if fault:
            self._add(FindingKind.LOST_POSITION, position.file, position.offset, fault)
        return fault is None

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
                self._add(FindingKind.BAD_RECORD, name, item.offset, fault)
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
            self._add(FindingKind.REPAIR, name, damage.offset, what)
            return
        self._add(_DAMAGES[damage.kind], name, damage.offset, f"{damage.what} ({damage.length} bytes)")

    # ── the index ───────────────────────────────────────────────────────────────────────────────────────────

    def _check_segment(self, name: str, lines: list[bytes], *, growing: bool) -> None:
        """Compare the lines of a segment with the lines rebuilt from the records."""
        path = self._index / (growing_name(name) if growing else segment_name(name))
        written = path.read_bytes() if path.exists() else None
        if written == sorted_segment(lines) or (growing and not lines):
            return
        actual, expected = Counter((written or b"").splitlines(keepends=True)), Counter(lines)
        extra, absent = list((actual - expected).elements()), list((expected - actual).elements())
        if growing:
            absent = []  # lines are written after their records; the repair at the next start completes them
            if not extra:
                return
        if self._repair and not growing:
            write_segment(self._index, name, lines, fsync=self._fsync)
            what = f"index segment rewritten ({len(extra)} wrong lines, {len(absent)} missing lines)"
            self._add(FindingKind.REPAIR, name, 0, what)
            return
        if written is None:
            self._add(FindingKind.MISSING_SEGMENT, name, 0, f"{path.name} is missing", number=len(lines))
            return
        for line in extra:
            self._add_line(FindingKind.WRONG_LINE, name, line)
        for line in absent:
            self._add_line(FindingKind.MISSING_LINE, name, line)
        if not extra and not absent:
            self._add(FindingKind.UNSORTED_INDEX, path.name, 0, "index lines are not sorted")

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
                self._add(FindingKind.REPAIR, path.name, 0, "index segment of a missing file renamed to .orphan")
                continue
            number = len(path.read_bytes().splitlines())
            what = "the WARC file of this index is missing"
            self._add(FindingKind.INDEX_OF_MISSING_FILE, path.name, 0, what, number=max(number, 1))

    def _add_line(self, kind: FindingKind, file: str, line: bytes) -> None:
        entry = parse(line)
        what = f"{entry.url} {entry.timestamp}" if entry else f"{line[:80]!r}"
        self._add(kind, file, entry.offset if entry else 0, what)

    def _add(self, kind: FindingKind, file: str, offset: int, what: str, *, number: int = 1) -> None:
        self.findings.add(kind, what, file=file, offset=offset, number=number)


_DAMAGES = {
    "torn": FindingKind.TORN_END,
    "damaged": FindingKind.DAMAGED_BYTES,
    "shape": FindingKind.GZIP_MEMBERS,
}
