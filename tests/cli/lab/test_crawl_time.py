"""`webstrata lab crawl-time` on the command line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.cli.conftest import Call


def test_table_document_and_plot(call: Call, tmp_path: Path) -> None:
    """One crawl prints the table of both estimators, and with --out writes a JSON document and a plot."""
    result = call("lab", "crawl-time", "--crawls", 1, "--teach", 1, "--out", tmp_path / "out")

    assert result.code == 0, result.err
    assert "overestimate (crawls)" in result.text
    assert "paper" in result.text
    assert "ours" in result.text
    document = msgspec.json.decode((tmp_path / "out" / "crawl-time.json").read_bytes())
    assert len(document["crawls"]) == 1
    assert {row["estimator"] for row in document["table"]} == {"paper", "ours", "informed"}
    assert (tmp_path / "out" / "crawl-time.svg").read_bytes().startswith(b"<?xml")
