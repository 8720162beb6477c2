from __future__ import annotations

from pathlib import Path

import pytest

from tests.archive.conftest import START_AT, Home, write_family
from webstrata.archive.export import OpenArchive, Selection, export_cdxj, export_warc
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.walk import walk
from webstrata.errors import ArchiveError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_family(tmp_path)[0]


@pytest.fixture
def source(home: Home) -> OpenArchive:
    return OpenArchive(home.archive, home.index)


def test_originals_of_revisits_are_exported(source: OpenArchive, tmp_path: Path) -> None:
    """The original of a selected revisit is exported, too."""
    out = tmp_path / "late.warc.gz"
    late = Selection(url="http://example.com/a", since="2026092115", until="2026092115")

    assert export_warc(source, late, out, software="webstrata/0.1", at=START_AT) == 2

    kinds = [item.kind for item in walk(out) if isinstance(item, WarcRecord)]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request"]
    source.close()


def test_cdxj_export(source: OpenArchive, home: Home, tmp_path: Path) -> None:
    """Index lines are exported unchanged; a selection exports its own lines only."""
    assert export_cdxj(source, Selection(), tmp_path / "all.cdxj") == 4
    assert (tmp_path / "all.cdxj").read_bytes() == home.segment.read_bytes()
    assert export_cdxj(source, Selection(url="http://example.com/b"), tmp_path / "b.cdxj") == 1
    source.close()


def test_a_failed_export_leaves_no_file(source: OpenArchive, home: Home, tmp_path: Path) -> None:
    """An export that fails leaves no file."""
    home.warc.write_bytes(home.warc.read_bytes()[:500])
    out = tmp_path / "out" / "x.warc.gz"
    out.parent.mkdir()

    with pytest.raises(ArchiveError):
        export_warc(source, Selection(), out, software="webstrata/0.1", at=START_AT)

    assert list(out.parent.iterdir()) == []
    source.close()
