"""The names of WARC files tell who has written them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archive.conftest import START_AT, make_capture, write_home
from webstrata.archive.warc.file_name import is_written_by, warc_name, writer_of


def test_names_of_two_homes_never_meet(tmp_path: Path) -> None:
    """Two archives that begin at the same instant have files of different names."""
    batch = [make_capture("http://a.test/", b"words", START_AT)]
    one, two = (write_home(tmp_path / node, batch, node_name=node) for node in ("node-a", "node-b"))
    assert one.warc.name != two.warc.name
    assert writer_of(one.warc.name) == "node-a"
    assert is_written_by(two.warc.name, "node-b")
    assert not is_written_by(two.warc.name, "node-a")


@pytest.mark.parametrize("node", ["node-1a2b3c4d", "My Crawler/../x", "..", "", "węzeł"])
def test_any_node_name_gives_a_file_name(node: str) -> None:
    """A name that somebody wrote into the file `node` by hand cannot leave the folder."""
    name = warc_name(START_AT, 3, node)
    assert "/" not in name
    assert name.isascii()
    assert is_written_by(name, node)


@pytest.mark.parametrize("name", ["crawl.warc.gz", "webstrata-20260921141320-00000.warc.gz", "export.warc", ""])
def test_other_names_tell_no_writer(name: str) -> None:
    """Files of other programs, and exports, belong to no archiver."""
    assert writer_of(name) is None
