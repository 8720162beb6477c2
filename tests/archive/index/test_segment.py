from __future__ import annotations

from pathlib import Path

from tests.archive.conftest import write_family
from webstrata.archive.index.segment import reindex


def test_reindex_is_byte_equal(tmp_path: Path) -> None:
    """The index rebuilt from the WARC files equals the one that was written; segments of missing files are removed."""
    home, _ = write_family(tmp_path)
    before = home.segment.read_bytes()
    home.segment.write_bytes(b"spoilt")
    (home.index / "missing.cdxj").write_bytes(b"com,example)/ 20200101000000 {}\n")

    assert reindex(home.archive, home.index, fsync=False) == (1, 4)

    assert home.segment.read_bytes() == before
