"""The WARC archive keeps the promises of its port."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archive.conftest import open_archive
from webstrata.testing.archive import check_archive


@pytest.mark.parametrize("rotate_bytes", [1, 1_000_000_000], ids=["a file for each batch", "one file"])
def test_contract(tmp_path: Path, rotate_bytes: int) -> None:
    """Appending, reading, revisits and reopening behave as the port says."""
    check_archive(lambda: open_archive(tmp_path, rotate_bytes=rotate_bytes))
