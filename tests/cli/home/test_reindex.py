"""`webstrata reindex`: the index is rebuilt from the WARC files."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_reindex(damaged: Path, call: Call) -> None:
    """The rebuilt index is identical to the one that the crawl wrote."""
    (segment,) = (damaged / "index").glob("*.cdxj")
    written = segment.read_bytes()
    segment.write_bytes(b"com,example)/ 20230101000000 {}\n")

    result = call("--home", damaged, "reindex", "--json")

    assert result.json == {"files": 1, "lines": len(written.splitlines())}
    assert segment.read_bytes() == written
    assert call("--home", damaged, "reindex").text.endswith("indexed in 1 WARC file.\n")
