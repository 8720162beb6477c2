"""Whether the archive can be written is known before anything is requested."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from webstrata.archive.warc.archive import WarcArchive
from webstrata.archive.warc.room import check_room, free_bytes
from webstrata.clock import ManualClock
from webstrata.errors import ArchiveError


def test_free_space(tmp_path: Path) -> None:
    """Below the reserve nothing is written; the error says how much is free, and what to do."""
    check_room(tmp_path / "not" / "there" / "yet", reserve=1000, free=lambda folder: 1000)
    with pytest.raises(
        ArchiveError, match=r"has 99 MB left, and 100 MB must stay free \(archive.reserve\). Free space"
    ):
        check_room(tmp_path, reserve=100_000_000, free=lambda folder: 99_000_000)
    assert free_bytes(tmp_path) > 0


def test_an_archive_on_a_full_disk(tmp_path: Path) -> None:
    """The archive tells, before and after it has written something, and again that it can be written."""
    left = 10**9

    async def scenario() -> None:
        nonlocal left
        archive = WarcArchive(
            tmp_path,
            software="x",
            operator=None,
            node_name="n",
            clock=ManualClock(),
            reserve=10**8,
            free=lambda folder: left,
        )
        await archive.check_writable()
        left = 10**7
        with pytest.raises(ArchiveError, match="10 MB left"):
            await archive.check_writable()
        left = 10**9
        await archive.check_writable()
        await archive.close()

    asyncio.run(scenario())


def test_a_place_that_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot be written"):
        check_room(tmp_path / "file" / "archive", reserve=0)


LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from webstrata.archive.warc.archive import WarcArchive
from webstrata.clock import ManualClock
from webstrata.errors import ArchiveError

limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
archive = WarcArchive(Path(sys.argv[1]), software="x", operator=None, node_name="n", clock=ManualClock(), reserve=10**6)
try:
    asyncio.run(archive.check_writable())
    print("writable", archive._max_file_bytes)
except ArchiveError as problem:
    print(problem)
"""


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (900_000, "this process may write files of at most 1 MB, and more than 1 MB are needed (archive.reserve). "
                  "Raise the limit (`ulimit -f`)."),
        (5_000_000, "writable 4000000"),
    ],
)  # fmt: skip
def test_a_limit_on_the_size_of_files(tmp_path: Path, limit: int, expected: str) -> None:
    """A small limit is refused; within a larger one, a new file is started before the limit is reached."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path, str(limit)], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.strip() == expected
