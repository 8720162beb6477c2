from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec
import pytest
from isal import isal_zlib

from tests.archive.conftest import write_family
from webstrata.archive.index.lookup import Index
from webstrata.archive.index.segment import reindex
from webstrata.archive.warc.reader import WarcReader
from webstrata.errors import ArchiveError

FOREIGN = Path(__file__).parents[2] / "data" / "conformance" / "warc" / "files"


@pytest.mark.parametrize(
    "hidden",
    [
        rb"WARC-Refers-To-File[^\r]*\r\n",
        rb"WARC-Refers-To(-File[^:]*)?:[^\r]*\r\n",
        rb"WARC-Refers-To[^\r]*\r\n",
    ],
    ids=["without the position", "without the record ID", "without any reference"],
)
def test_resolving_revisits(tmp_path: Path, hidden: bytes) -> None:
    """A revisit is resolved by position, else by URL and time, else by payload digest."""
    home, captures = write_family(tmp_path)
    data = home.warc.read_bytes()
    revisit = home.positions[2]
    raw = isal_zlib.decompress(data[revisit.offset : revisit.offset + revisit.length], 31)
    changed = re.sub(hidden, b"", raw)
    assert changed != raw
    home.warc.write_bytes(data[: revisit.offset] + isal_zlib.compress(changed, 2, 31))
    reindex(home.archive, home.index, fsync=False)
    reader = WarcReader(home.archive, home.index)

    assert reader.read_at(revisit.file, revisit.offset).body == captures[0].exchange.body
    reader.close()


def test_a_revisit_without_its_original(tmp_path: Path) -> None:
    """A revisit without its original gives an error with a reason."""
    shutil.copy(FOREIGN / "pywb-example-url-agnostic-revisit.warc.gz", tmp_path)
    reindex(tmp_path, tmp_path / "index", fsync=False)
    reader = WarcReader(tmp_path, tmp_path / "index")

    with pytest.raises(ArchiveError, match="not in this archive"):
        reader.read_at("pywb-example-url-agnostic-revisit.warc.gz", 355)
    shutil.copy(FOREIGN / "pywb-example-url-agnostic-orig.warc.gz", tmp_path)
    reindex(tmp_path, tmp_path / "index", fsync=False)
    assert b"<html" in reader.read_at("pywb-example-url-agnostic-revisit.warc.gz", 355).body.lower()
    reader.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"offset": 1}, "no complete record"),
        ({"offset": 10**9}, "no complete record"),
        ({"file": "absent.warc.gz"}, "no such file"),
        ({"file": "../../etc/passwd"}, "not the name"),
        ({"record_id": "urn:uuid:1"}, "another record"),
    ],
)
def test_wrong_positions(tmp_path: Path, change: dict[str, object], why: str) -> None:
    """A wrong position gives an error with a reason, never another capture."""
    home, _ = write_family(tmp_path)
    reader = WarcReader(home.archive, home.index)

    with pytest.raises(ArchiveError, match=why):
        reader.read(msgspec.structs.replace(home.positions[0], **change))
    reader.close()


@pytest.mark.parametrize("name", ["example.arc", "pywb-example-extra.warc", "example.warc.gz", "cc.warc.gz"])
def test_files_of_other_writers(tmp_path: Path, name: str) -> None:
    """ARC files, and plain and compressed WARC files of other writers, can be indexed and read."""
    shutil.copy(FOREIGN / name, tmp_path)
    reindex(tmp_path, tmp_path / "index", fsync=False)
    reader, index = WarcReader(tmp_path, tmp_path / "index"), Index(tmp_path / "index")

    bodies = [reader.read_at(entry.filename, entry.offset).body for entry in index.entries() if not entry.revisit]

    assert bodies
    assert all(bodies)
    reader.close()
    index.close()
