from __future__ import annotations

from pathlib import Path

import pytest

from tests.archive.conftest import open_archive
from webstrata.testing.archive import check_archive


@pytest.mark.parametrize("max_file_bytes", [1, 1_000_000_000], ids=["a file for each batch", "one file"])
def test_contract(tmp_path: Path, max_file_bytes: int) -> None:
    """`WarcArchive` fulfils the contract of the archive port."""
    check_archive(lambda: open_archive(tmp_path, max_file_bytes=max_file_bytes))
