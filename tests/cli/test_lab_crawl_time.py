"""`webstrata lab crawl-time` as its users call it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.cli.conftest import Call


def test_both_estimators_and_a_picture(call: Call, tmp_path: Path) -> None:
    """One crawl: the table for people, and with --out the document and a picture."""
    told = call("lab", "crawl-time", "--crawls", 1, "--teach", 1, "--out", tmp_path / "out")

    assert told.code == 0, told.err
    assert "overestimate (crawls)" in told.text
    assert "paper" in told.text
    assert "ours" in told.text
    document = msgspec.json.decode((tmp_path / "out" / "crawl-time.json").read_bytes())
    assert len(document["crawls"]) == 1
    assert {row["estimator"] for row in document["table"]} == {"paper", "ours"}
    assert (tmp_path / "out" / "crawl-time.svg").read_bytes().startswith(b"<?xml")
