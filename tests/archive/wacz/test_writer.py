from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.archive.conftest import START_AT, Home, check_files, write_family
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.index.segment import reindex
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.writer import PackageOrder, export_wacz


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_family(tmp_path)[0]


@pytest.fixture
def source(home: Home) -> OpenArchive:
    return OpenArchive(home.archive, home.index)


def test_an_exported_wacz_is_valid(source: OpenArchive, tmp_path: Path) -> None:
    """The package passes the check, its files are stored uncompressed, and its records are valid."""
    out = tmp_path / "out.wacz"

    assert export_wacz(source, Selection(), out, PackageOrder(software="webstrata/0.1"), at=START_AT) == 4

    assert check_wacz(out) == []
    with zipfile.ZipFile(out) as package:
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in package.infolist())
        package.extract("archive/data.warc.gz", tmp_path / "unpacked")
        pages = package.read("pages/pages.jsonl").splitlines()
    assert [json.loads(page).get("url") for page in pages[1:]] == [
        "http://example.com/a",
        "http://example.com/b?y=2&x=1",
    ]
    unpacked = tmp_path / "unpacked" / "archive"
    reindex(unpacked, tmp_path / "unpacked" / "index")
    assert check_files(unpacked, tmp_path / "unpacked" / "index").findings == []
    source.close()
