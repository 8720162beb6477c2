"""Findings of `check`, grouped by kind: the part of the home, how bad it is, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

FindingCount = Literal["bad", "dangling", "lost", "repaired"]
"""`bad`: damaged or not valid; `dangling`: it names a record that is not there; `lost`: a capture without an index
line; `repaired`: a repair that was made, and then the fault is not counted."""

Severity = Literal["damage", "derived", "repaired"]
"""`derived`: data that `--repair` makes again from what is sound."""


class FindingKind(StrEnum):
    """What was found."""

    BAD_RECORD = "bad-record"
    DAMAGED_BYTES = "damaged-bytes"
    TORN_END = "torn-end"
    GZIP_MEMBERS = "gzip-members"
    MISSING_FILE = "missing-file"
    MISSING_SEGMENT = "missing-segment"
    MISSING_LINE = "missing-line"
    WRONG_LINE = "wrong-line"
    UNSORTED_INDEX = "unsorted-index"
    INDEX_OF_MISSING_FILE = "index-of-missing-file"
    DATABASE_FILE = "database-file"
    CHANGED_DEFINITION = "changed-definition"
    CHANGED_VALUE = "changed-value"
    UNREADABLE_ROW = "unreadable-row"
    WRONG_COUNT = "wrong-count"
    LOST_ROW = "lost-row"
    PAGE_AND_LOG = "page-and-log"
    LOG_AND_RECORD = "log-and-record"
    LOST_POSITION = "lost-position"
    REPAIR = "repair"


class CheckFinding(Struct, frozen=True, kw_only=True):
    """One fault, or one repair that was made."""

    kind: FindingKind
    file: str
    offset: int
    what: str
    """What is wrong, or what was repaired."""


class FindingGroup(Struct, kw_only=True):
    """All findings of a kind."""

    kind: FindingKind
    part: Literal["archive", "index", "database", "contradictions", "repairs"]
    severity: Severity
    count: FindingCount
    """The count of the result to which the findings belong."""
    what: str
    do: str
    """What the user can do about them."""
    by_file: bool = False
    """All findings of a file have one cause, so the files are shown instead of the findings."""
    number: int = 0
    files: dict[str, int] = {}
    """The number of findings by file, of the first 1,000 files."""


class CheckResult(Struct, kw_only=True):
    """The number of records and of findings; `findings` holds the first 1,000 of each kind."""

    records: int = 0
    bad: int = 0
    dangling: int = 0
    lost: int = 0
    repaired: int = 0
    elsewhere: int = 0
    """Positions in the database whose records are in the archives of other homes that share it; not checked."""
    groups: list[FindingGroup] = []
    findings: list[CheckFinding] = []
    notes: list[str] = []
    """What could not be checked, and observations that are not faults."""

    @property
    def faults(self) -> int:
        """Findings that remain."""
        return self.bad + self.dangling + self.lost
