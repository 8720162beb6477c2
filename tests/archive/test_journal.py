"""The journal of a capture: what was appended is there after a crash, and a torn line is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webstrata.archive.journal import JournalFile, open_journal, new_journal
from webstrata.clock import ManualClock
from webstrata.errors import UsageError

LINES = [b'{"a":1}', b'{"b":"\\u00e4"}', b"[]"]


def written(path: Path) -> JournalFile:
    journal = JournalFile(path, ManualClock())
    asyncio.run(journal.append(LINES[:2]))
    asyncio.run(journal.append(LINES[2:]))
    return journal


def test_lines_come_back(tmp_path: Path) -> None:
    """Lines are read back in order by whoever opens the journal next."""
    written(tmp_path / "one.jsonl")
    assert open_journal(tmp_path, "one", ManualClock()).lines() == LINES


@pytest.mark.parametrize("torn", [b"{", b'{"c":', b'{"c":1}', b"\x00\x00\x00", b'{"c"\n', b"\x00\x00\n"])
def test_a_torn_end_is_cut_off(torn: bytes, tmp_path: Path) -> None:
    """Whatever a crash left behind the last whole line is gone when the next line is written."""
    path = written(tmp_path / "one.jsonl").path
    with path.open("ab") as file:
        file.write(torn)
    journal = JournalFile(path, ManualClock())
    assert journal.lines() == LINES
    asyncio.run(journal.append([b"7"]))
    assert path.read_bytes() == b"\n".join([*LINES, b"7", b""])


def test_names_are_taken_once(tmp_path: Path) -> None:
    """Two captures that begin in the same second have journals of their own."""
    names = [new_journal(tmp_path / "new", "c", ManualClock()).path.name for _ in range(3)]
    assert names == ["c.jsonl", "c-2.jsonl", "c-3.jsonl"]


@pytest.mark.parametrize("name", ["two", "", ".one", "../one", "/etc/passwd"])
def test_only_own_journals_are_opened(name: str, tmp_path: Path) -> None:
    """A name that is no journal of this folder is refused, and the error lists those that are."""
    (tmp_path / "in").mkdir()
    written(tmp_path / "one.jsonl")
    written(tmp_path / "in" / "mine.jsonl")
    with pytest.raises(UsageError, match="mine"):
        open_journal(tmp_path / "in", name, ManualClock())
