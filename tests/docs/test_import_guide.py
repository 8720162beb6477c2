"""The guide to imports: its commands run as they stand."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
from pathlib import Path
from typing import get_args

import pytest

from tests.archive.foreign_warc import response, write_warc
from tests.cli.conftest import call_here
from webstrata.records import SkipReason

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_commands(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the guide succeeds on a home, and leaves nothing out of good files."""
    guide = (root / "docs" / "how-to" / "import-histories.md").read_text(encoding="utf-8")
    commands = [line[2:] for block in BLOCK.findall(guide) for line in block.splitlines()]
    monkeypatch.chdir(tmp_path)
    with gzip.open("archive.cdx.gz", "wb") as file:
        file.write((root / "tests" / "data" / "cdx" / "dupes.cdx").read_bytes())
    write_warc(tmp_path / "crawl.warc.gz", [response("http://a.org/", "2020-01-01T00:00:00Z", b"<p>text")])
    shutil.copy(root / "src" / "webstrata" / "lab" / "data" / "histories" / "wikipedia.parquet", "pages.parquet")
    Path("observations.tsv").write_text("http://a.org/\t[[1, true]]\n", encoding="utf-8")
    call_here("--home", tmp_path / "home", "init")
    assert len(commands) > 4
    for command in commands:
        program, *words = shlex.split(command)
        result = call_here(*words, WEBSTRATA_HOME=str(tmp_path / "home"))
        assert (program, result.code) == ("webstrata", 0), f"{command}: {result.err}"


def test_reasons(root: Path) -> None:
    """The guide explains every reason for which a row is left out."""
    guide = (root / "docs" / "how-to" / "import-histories.md").read_text(encoding="utf-8")
    assert [reason for reason in get_args(SkipReason) if f"`{reason}`" not in guide] == []
