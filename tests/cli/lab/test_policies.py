"""`webstrata lab policies` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Call
from tests.lab.policies.made_histories import made_rows


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    """Two small corpora in a folder."""
    folder = tmp_path / "histories"
    folder.mkdir()
    for corpus in ("one", "two"):
        rows = [
            {**row, "bucket": "l>6m", "changes": [int(at) for at in row["changes"]]}
            for row in made_rows(24, 500, seed=len(corpus), corpus=corpus)
        ]
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{corpus}.parquet")
    return folder


def test_rows_at_equal_downloads(histories: Path, call: Call) -> None:
    """Budgeted policies make exactly as many downloads as the matched policy, in each corpus."""
    result = call(
        *("lab", "policies", "--histories", histories / "one.parquet", histories / "two.parquet", "--years", "1"),
        *("--policies", "value,proportional,dyn", "--match", "dyn", "--json"),
    )
    assert result.code == 0, result.err
    whole = {(row["policy"], row["corpus"]): row for row in result.json["rows"] if row["bucket"] == "all"}

    assert set(whole) == {(name, corpus) for name in ("value", "proportional", "dyn") for corpus in ("one", "two")}
    for corpus in ("one", "two"):
        assert whole["value", corpus]["downloads"] == whole["dyn", corpus]["downloads"]
        assert whole["value", corpus]["match"] == "dyn"
        assert whole["dyn", corpus]["match"] is None
        low, high = whole["value", corpus]["recall_interval"]
        assert low <= whole["value", corpus]["recall"] <= high
        assert len(whole["value", corpus]["quarters"]) == 4
    compared = {(row["versus"], row["corpus"]) for row in result.json["comparisons"]}
    assert compared == {(a, b) for a in ("dyn", "proportional") for b in ("one", "two", "geometric mean")}


def test_replays_by_the_hour(histories: Path, call: Call) -> None:
    """Every fourth page, with a budget for each page and decisions every six hours."""
    result = call(
        *("lab", "policies", "--histories", histories, "--years", "0.1", "--policies", "value,brute-force"),
        *("--budget", "4/page/day", "--step", "6h", "--liveliest", "0.25", "--json"),
    )
    assert result.code == 0, result.err
    whole = {(row["policy"], row["corpus"]): row for row in result.json["rows"] if row["bucket"] == "all"}

    assert result.json["pages"] == 12
    for corpus in ("one", "two"):
        assert whole["value", corpus]["match"] == "4/page/day"
        assert whole["value", corpus]["downloads"] == 6 * 36 * 4
        assert abs(whole["brute-force", corpus]["downloads"] - 6 * 36 * 4) <= 6
        assert whole["value", corpus]["delay_days"] <= 0.25


def test_everything_at_once(histories: Path, tmp_path: Path, call: Call) -> None:
    """History, lists, reports and several budgets together; the HTML report contains every plot."""
    out = tmp_path / "report"
    result = call(
        *("lab", "policies", "--histories", histories, "--years", "0.5", "--policies", "value,uniform,week,gold"),
        *("--history-days", "100", "--lists", "3d", "--list-recall", "0.8", "--list-precision", "0.9"),
        *("--reports", "0.5", "--budget", "0.5x:week,300,2/day", "--objective", "mix", "--out", out),
    )
    assert result.code == 0, result.err

    assert "0.5x:week" in result.text
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 3
    assert "real changes" in page
    rows = json.loads((out / "policies.json").read_text())["rows"]
    assert {row["match"] for row in rows} == {None, "0.5x:week", "300", "364"}
    assert all(row["downloads"] <= 300 for row in rows if row["match"] == "300")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policies", "best"), "best"),
        (("--match", "value"), "value has no downloads of its own"),
        (("--budget", "plenty"), "no budget 'plenty'"),
        (("--lists", "often"), "often"),
        (("--step", "1s"), "--step must be from 10m"),
        (("--step", "soon"), "soon"),
        (("--liveliest", "0"), "--liveliest is a share"),
        (("--lists", "1h"), "once a day"),
        (("--lists", "3d", "--list-recall", "2"), "from 0 to 1"),
        (("--reports", "-1"), "rate of reports"),
        (("--years", "50"), "--years"),
        (("nowhere.parquet",), "nowhere.parquet"),
    ],
)
def test_invalid_arguments(words: tuple[str, ...], message: str, histories: Path, call: Call) -> None:
    """Invalid arguments give a message and exit code 2."""
    result = call("lab", "policies", "--histories", histories, "--policies", "value,dyn", "--years", "0.2", *words)

    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
