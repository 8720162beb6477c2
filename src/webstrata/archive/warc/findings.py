"""`CheckFindings`: collects what `check` finds, in groups, in bounded memory however much is damaged."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.records import CheckFinding, CheckResult, FindingGroup, FindingKind

MAX_FINDINGS = 1000
"""Findings of a kind that are kept, and files of a kind; the numbers cover all of them."""

_REINDEX = "Run `webstrata check --repair` or `webstrata reindex`: both make the index again from the WARC files."
_RESTORE_FILES = "Restore the files from a backup; all other records can be read."
_RESTORE_DATABASE = (
    "The archive is not affected. Restore the database from a backup, or run `webstrata rebuild --replace`, which "
    "makes it again from the WARC files."
)

_GROUPS = (
    FindingGroup(
        kind=FindingKind.BAD_RECORD,
        part="archive",
        severity="damage",
        count="bad",
        what="WARC records with wrong fields, lengths or digests",
        do=_RESTORE_FILES,
    ),
    FindingGroup(
        kind=FindingKind.DAMAGED_BYTES,
        part="archive",
        severity="damage",
        count="bad",
        what="places in WARC files that cannot be read",
        do=_RESTORE_FILES,
    ),
    FindingGroup(
        kind=FindingKind.TORN_END,
        part="archive",
        severity="derived",
        count="bad",
        what="WARC files that end within a record",
        do="Run `webstrata check --repair`: it cuts the torn end and saves it to a .torn file.",
    ),
    FindingGroup(
        kind=FindingKind.GZIP_MEMBERS,
        part="archive",
        severity="damage",
        count="bad",
        what="files in which a record is not a gzip member of its own",
        do="Run `warcio recompress` on the files: it writes one gzip member for each record.",
    ),
    FindingGroup(
        kind=FindingKind.MISSING_FILE,
        part="archive",
        severity="damage",
        count="dangling",
        what="captures of the log in WARC files that are missing",
        do="Restore the files from a backup. Without one, `webstrata rebuild --replace` makes a database without these "
        "captures.",
        by_file=True,
    ),
    FindingGroup(
        kind=FindingKind.MISSING_SEGMENT,
        part="index",
        severity="derived",
        count="lost",
        what="captures whose index file is missing",
        do=_REINDEX,
        by_file=True,
    ),
    FindingGroup(
        kind=FindingKind.MISSING_LINE,
        part="index",
        severity="derived",
        count="lost",
        what="captures without an index line",
        do=_REINDEX,
    ),
    FindingGroup(
        kind=FindingKind.WRONG_LINE,
        part="index",
        severity="derived",
        count="dangling",
        what="index lines without a record",
        do=_REINDEX,
    ),
    FindingGroup(
        kind=FindingKind.UNSORTED_INDEX,
        part="index",
        severity="derived",
        count="bad",
        what="index files that are not sorted",
        do=_REINDEX,
    ),
    FindingGroup(
        kind=FindingKind.INDEX_OF_MISSING_FILE,
        part="index",
        severity="derived",
        count="dangling",
        what="index lines of WARC files that are missing",
        do="Restore the WARC files from a backup, or run `webstrata check --repair`, which sets their index aside.",
        by_file=True,
    ),
    FindingGroup(
        kind=FindingKind.DATABASE_FILE,
        part="database",
        severity="damage",
        count="bad",
        what="faults of the database",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.CHANGED_DEFINITION,
        part="database",
        severity="damage",
        count="bad",
        what="tables and indexes that differ from those of this version",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.CHANGED_VALUE,
        part="database",
        severity="damage",
        count="bad",
        what="tables with values that changed by themselves",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.UNREADABLE_ROW,
        part="database",
        severity="damage",
        count="bad",
        what="rows that cannot be read (`--deep` tells more)",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.WRONG_COUNT,
        part="contradictions",
        severity="derived",
        count="bad",
        what="stored counts and queue rows that contradict the other rows",
        do="Run `webstrata check --repair`: it computes them again from the other rows.",
    ),
    FindingGroup(
        kind=FindingKind.LOST_ROW,
        part="contradictions",
        severity="damage",
        count="bad",
        what="rows that refer to rows that are missing",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.PAGE_AND_LOG,
        part="contradictions",
        severity="damage",
        count="bad",
        what="pages that contradict the log",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.LOG_AND_RECORD,
        part="contradictions",
        severity="damage",
        count="bad",
        what="rows of the log that contradict the WARC records",
        do=_RESTORE_DATABASE,
    ),
    FindingGroup(
        kind=FindingKind.LOST_POSITION,
        part="contradictions",
        severity="damage",
        count="dangling",
        what="captures of the log where the WARC file has no such record",
        do="Restore the WARC files from a backup. If they are sound, run `webstrata rebuild --replace`: it makes the "
        "database again from them.",
    ),
    FindingGroup(
        kind=FindingKind.REPAIR,
        part="repairs",
        severity="repaired",
        count="repaired",
        what="repairs made",
        do="",
    ),
)
"""Every kind, in the order in which they are shown: what causes other findings comes first."""


class CheckFindings:
    """Adds findings to a result."""

    def __init__(self) -> None:
        self.result = CheckResult()
        self._groups: dict[FindingKind, FindingGroup] = {}

    def add(self, kind: FindingKind, what: str, *, file: str = "database", offset: int = 0, number: int = 1) -> None:
        """Add a finding; `number`: it stands for so many of the same cause."""
        group = self._groups.get(kind)
        if group is None:
            group = self._groups[kind] = _new_group(kind)
            self.result.groups = [self._groups[one.kind] for one in _GROUPS if one.kind in self._groups]
        if group.number < MAX_FINDINGS:
            self.result.findings.append(CheckFinding(kind=kind, file=file, offset=offset, what=what))
        group.number += number
        if file in group.files or len(group.files) < MAX_FINDINGS:
            group.files[file] = group.files.get(file, 0) + number
        setattr(self.result, group.count, getattr(self.result, group.count) + number)

    def note(self, what: str) -> None:
        """Add what is not a fault."""
        self.result.notes.append(what)


def _new_group(kind: FindingKind) -> FindingGroup:
    (known,) = (group for group in _GROUPS if group.kind is kind)
    return replace(known, files={})
