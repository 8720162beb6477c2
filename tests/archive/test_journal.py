from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webstrata.archive.journal import JournalFile, new_journal, open_journal
from webstrata.clock import ManualClock
from webstrata.errors import UsageError

LINES = [b'{"a":1}', b'{"b":"\\u00e4"}', b"[]"]


def written(path: Path) -> JournalFile:
    journal = JournalFile(path, ManualClock())
    asyncio.run(journal.append(LINES[:2]))
    asyncio.run(journal.append(LINES[2:]))
    return journal


def test_lines_are_read_back(tmp_path: Path) -> None:
    """Lines are read back in order."""
    written(tmp_path / "one.jsonl")
    assert open_journal(tmp_path, "one", ManualClock()).lines() == LINES


@pytest.mark.parametrize("torn", [b"{", b'{"c":', b'{"c":1}', b"\x00\x00\x00", b'{"c"\n', b"\x00\x00\n"])
def test_a_torn_end_is_cut_off(torn: bytes, tmp_path: Path) -> None:
    """Bytes after the last complete line are removed when the next line is written."""
    path = written(tmp_path / "one.jsonl").path
    with path.open("ab") as file:
        file.write(torn)
    journal = JournalFile(path, ManualClock())
    assert journal.lines() == LINES
    asyncio.run(journal.append([b"7"]))
    assert path.read_bytes() == b"\n".join([*LINES, b"7", b""])


def test_names_are_unique(tmp_path: Path) -> None:
    """Captures that start in the same second have separate journals."""
    names = [new_journal(tmp_path / "new", "c", ManualClock()).path.name for _ in range(3)]
    assert names == ["c.jsonl", "c-2.jsonl", "c-3.jsonl"]


@pytest.mark.parametrize("name", ["two", "", ".one", "../one", "/etc/passwd"])
def test_only_journals_of_the_folder_are_opened(name: str, tmp_path: Path) -> None:
    """A name that is not a journal of the folder is rejected, and the error lists the existing ones."""
    (tmp_path / "in").mkdir()
    written(tmp_path / "one.jsonl")
    written(tmp_path / "in" / "mine.jsonl")
    with pytest.raises(UsageError, match="mine"):
        open_journal(tmp_path / "in", name, ManualClock())
