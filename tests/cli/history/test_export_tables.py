"""`webstrata export visits|changes|forecasts`: tables that other programs read, with the values of `log` and `why`."""

from __future__ import annotations

import csv
import io
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Call, Demo, LocalServer, environment, started
from webstrata.clock import parse_instant

KINDS = ("visits", "changes", "forecasts")
PAGE = "http://llvm.test/"


def _table(demo: Demo, kind: str, folder: Path, call: Call, *words: object) -> pa.Table:
    out = folder / f"{kind}.parquet"
    result = call("--home", demo.home, "export", kind, out, "--json", *words)
    assert result.code == 0, result.err
    table = pq.read_table(out)
    assert result.json == {
        "file": str(out),
        "format": "parquet",
        "rows": table.num_rows,
        "bytes": out.stat().st_size,
    }
    return table


def _csv(demo: Demo, kind: str, call: Call, *words: object) -> list[dict[str, str]]:
    out = call("--home", demo.home, "export", kind, "-", *words).out.decode()
    return list(csv.DictReader(io.StringIO(out, newline="")))


def test_visits(demo: Demo, tmp_path: Path, call: Call) -> None:
    """The table has every visit, oldest first, with the values of `log`."""
    rows = _table(demo, "visits", tmp_path, call).to_pylist()
    assert len(rows) == call("--home", demo.home, "status", "--json").json["visits"]
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    logged = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    found = [row for row in rows if row["url"] == PAGE][::-1]
    assert len(found) == len(logged)
    for row, visit in zip(found, logged, strict=True):
        assert row["time"].timestamp() == pytest.approx(parse_instant(visit["at"]), abs=1e-6)
        for name in ("outcome", "status", "kind", "significance", "reasons", "reverted", "bytes", "raw", "payload"):
            assert row[name] == visit[name], name
        assert (row["changed"], row["bytes_changed"]) == (visit["changed"], visit["bytes_changed"])
        assert (row["warc_file"], row["warc_offset"]) == (visit["warc"]["file"], visit["warc"]["offset"])


def test_types(demo: Demo, tmp_path: Path, call: Call) -> None:
    """Times are UTC, texts with few values are dictionaries, and the file names the software and its version."""
    schema = _table(demo, "visits", tmp_path, call).schema
    assert schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert schema.field("outcome").type == pa.dictionary(pa.int32(), pa.string())
    assert schema.field("tags").type.value_type == pa.string()
    assert (schema.field("status").type, schema.field("changed").type) == (pa.int64(), pa.bool_())
    about = {name.decode(): value.decode() for name, value in schema.metadata.items()}
    assert about["software"].startswith("webstrata/")
    assert about["table"] == "webstrata visits"


def test_changes(demo: Demo, tmp_path: Path, call: Call) -> None:
    """Each change that counts has the last time at which the old version was seen: it happened between the two."""
    rows = _table(demo, "changes", tmp_path, call).to_pylist()
    listed = call("--home", demo.home, "changes", "--since", "2000", "--no-words", "--requisites", "--json").json
    assert len(rows) == listed["total"] > 10
    logged = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    for row in rows:
        assert row["old_seen_at"] < row["time"]
        if row["url"] == PAGE:
            number = next(n for n, visit in enumerate(logged) if _same(visit["at"], row["time"]))
            assert _same(logged[number + 1]["at"], row["old_seen_at"])


def _same(text: str, at: Any) -> bool:
    return abs(parse_instant(text) - at.timestamp()) < 1e-5


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_forecasts(policy: str, demo: Demo, tmp_path: Path, call: Call) -> None:
    """Each active page has the probability of a change and the rate that `why` shows, and an interval of the rate."""
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy}
    out = tmp_path / "forecasts.parquet"
    assert call("--home", demo.home, "export", "forecasts", out, **environ).code == 0
    rows = {row["url"]: row for row in pq.read_table(out).to_pylist()}
    listed = call("--home", demo.home, "list", "--json", "--state", "active").json["pages"]
    assert rows.keys() == {page["url"] for page in listed}
    row = rows[PAGE]
    why = call("--home", demo.home, "why", PAGE, "--json", **environ).json["evidence"]
    assert (row["policy"], row["visits"], row["changes"]) == (policy, why["visits"], why["changes"])
    assert 0 < row["changed_probability"] <= 1
    assert row["observed_rate_low"] <= row["observed_rate_per_day"] <= row["observed_rate_high"]
    if policy == "value":
        assert row["changed_probability"] == pytest.approx(why["changed_probability"], rel=1e-3)
        assert row["rate_per_day"] == pytest.approx(why["rate_per_day"], rel=1e-3)
        assert (row["expected_change_at"] - row["time"]).total_seconds() == pytest.approx(86_400 / row["rate_per_day"])
    else:
        assert row["rate_per_day"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_csv(kind: str, demo: Demo, tmp_path: Path, call: Call) -> None:
    """CSV has the same columns and rows as Parquet, with times in ISO 8601."""
    table = _table(demo, kind, tmp_path, call)
    rows = _csv(demo, kind, call)
    assert list(rows[0]) == table.column_names
    assert [row["url"] for row in rows] == table.column("url").to_pylist()
    at = [parse_instant(row["time"]) for row in rows]
    if kind != "forecasts":
        assert at == pytest.approx([value.timestamp() for value in table.column("time").to_pylist()])


def test_selection(demo: Demo, call: Call) -> None:
    """--host, --tag, --since and --until select rows."""
    whole = _csv(demo, "visits", call)
    host = _csv(demo, "visits", call, "--host", "llvm.test")
    assert host == [row for row in whole if row["host"] == "llvm.test"]
    part = _csv(demo, "visits", call, "--since", "2023-01-10", "--until", "2023-01-20")
    assert part == [row for row in whole if "2023-01-10" <= row["time"] <= "2023-01-20T00:00:00Z"]
    assert _csv(demo, "changes", call, "--tag", "none") == []
    assert {row["host"] for row in _csv(demo, "forecasts", call, "--host", "llvm.test")} == {"llvm.test"}


def test_many_batches(demo: Demo, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written in batches: the file is the same however many there are."""
    from webstrata.flows import exported_tables

    whole = _table(demo, "visits", tmp_path, call)
    monkeypatch.setattr(exported_tables, "BATCH", 7)
    parts = _table(demo, "visits", tmp_path, call)
    assert pq.ParquetFile(tmp_path / "visits.parquet").num_row_groups > 10
    assert parts.to_pylist() == whole.to_pylist()


def test_mistakes(demo: Demo, tmp_path: Path, call: Call) -> None:
    """A name without a format, Parquet on stdout and a folder that does not exist are reported."""
    unknown = call("--home", demo.home, "export", "visits", tmp_path / "x.txt")
    assert unknown.code == 2
    assert ".parquet or .csv" in unknown.err
    assert call("--home", demo.home, "export", "visits", "-", "--format", "parquet").code == 2
    assert call("--home", demo.home, "export", "visits", tmp_path / "x.txt", "--format", "csv").code == 0
    assert call("--home", demo.home, "export", "visits", tmp_path / "no" / "x.csv").code == 1


def test_without_pyarrow(demo: Demo, tmp_path: Path) -> None:
    """Without pyarrow the message has the command that installs it, and CSV works."""
    program = "import sys; sys.modules['pyarrow'] = None; from webstrata.cli import main; main()"

    def run(out: Path) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", program, "--home", str(demo.home), "export", "visits", str(out)]
        return subprocess.run(words, capture_output=True, text=True, check=False, env=environment())

    missing = run(tmp_path / "x.parquet")
    assert (missing.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "pip install 'webstrata[lab]'" in missing.stderr
    assert run(tmp_path / "x.csv").returncode == 0


def test_no_half_file(demo: Demo, tmp_path: Path) -> None:
    """An export that is interrupted leaves the old file, or the complete new one, and nothing else."""
    out = tmp_path / "visits.csv"
    out.write_text("old")
    with started("--home", demo.home, "export", "visits", out) as process:
        while process.poll() is None and not out.with_name("visits.csv.part").exists():
            pass
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]
    text = out.read_text()
    assert text == "old" or text.endswith("\n")


def test_texts_of_pages(home: Path, server: LocalServer, tmp_path: Path, call: Call) -> None:
    """Tags and reasons are lists in Parquet and are separated by semicolons in CSV; formulas are made harmless."""
    server.pages["/"] = ("text/html", b"<title>t</title><p>hello")
    call("--home", home, "watch", server.url(), "--tag", "=1+1", "--tag", "b")
    call("--home", home, "crawl", "--quiet", **server.settings)
    out = tmp_path / "visits.parquet"
    call("--home", home, "export", "visits", out)
    (row,) = pq.read_table(out).to_pylist()
    assert (row["tags"], row["reasons"]) == (["=1+1", "b"], ["seen for the first time"])
    (cells,) = csv.DictReader(io.StringIO(call("--home", home, "export", "visits", "-").text))
    assert cells["tags"] == "'=1+1; b"
