"""`webstrata lab live` on the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Call
from tests.lab.live.extract import extract_rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.parquet"
    pq.write_table(pa.Table.from_pylist(extract_rows("wikipedia", "packages")), path)
    return path


COLUMNS = {
    "corpus",
    "policy",
    "lists",
    "match",
    "budget",
    "captured",
    "changes",
    "visits",
    "list_visits",
    "downloads_allowed",
    "lab_captured",
}


def test_document_of_several_crawls(call: Call, file: Path) -> None:
    """--json: a row for each corpus and kind of lists, and their means."""
    options = ("--histories", file, "--lists", "none,truth", "--days", 20, "--budget", 4)
    result = call("lab", "live", *options, "--json")

    assert result.code == 0, result.err
    rows = result.json["rows"]
    assert [(row["corpus"], row["lists"]) for row in rows] == [
        ("packages", "none"),
        ("packages", "truth"),
        ("wikipedia", "none"),
        ("wikipedia", "truth"),
    ]
    for row in rows:
        assert row.keys() >= COLUMNS
        assert row["visits"] + row["list_visits"] <= row["downloads_allowed"]
        assert row["lists"] == "truth" or row["list_visits"] == 0
    assert [(mean["lists"], mean["corpora"]) for mean in result.json["means"]] == [("none", 2), ("truth", 2)]


def test_crawls_at_the_same_time(call: Call, file: Path) -> None:
    """--jobs: crawls in processes of their own have the same rows, in the same order."""
    options = ("lab", "live", "--histories", file, "--days", 6, "--pages", 2, "--budget", 4, "--json")
    parallel, one_by_one = call(*options, "--jobs", 2), call(*options)

    assert parallel.code == 0, parallel.err
    assert len(parallel.json["rows"]) == 2
    assert parallel.json == one_by_one.json


def test_replays_of_several_seeds(call: Call, file: Path) -> None:
    """--lab-only: no crawl, so there are no captures of the loop; --seed: a row for each."""
    options = ("lab", "live", "--histories", file, "--days", 60, "--lists", "none,truth", "--lab-only", "--seed", "1,2")
    result = call(*options, "--json")

    assert result.code == 0, result.err
    assert [(row["seed"], row["captured"]) for row in result.json["rows"]] == [(1, None), (2, None)] * 4
    assert all(mean["ratio"] is None and mean["of_no_list"] for mean in result.json["means"])
    assert "÷ no lists" in call(*options).text


def test_table(call: Call, file: Path) -> None:
    """Without --json: a table of the crawls and one of the means."""
    result = call("lab", "live", "--histories", file, "--days", 10, "--pages", 4)

    assert result.code == 0, result.err
    assert "1 × state-2" in result.text
    assert "in the lab" in result.text
    assert "geometric mean" in result.text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--lists", "wrong"), "no kind of lists 'wrong'"),
        (("--budget", "much"), "no budget 'much'"),
        (("--policies", "dyn"), "shares no budget"),
        (("--seed", "one"), "no seed 'one'"),
        (("--recorded",), "either files of histories or --recorded"),
    ],
)
def test_bad_options(call: Call, file: Path, options: tuple[str, ...], text: str) -> None:
    """A value that is not possible is an error that names what is."""
    result = call("lab", "live", "--histories", file, *options)

    assert result.code == 2
    assert text in result.err


def test_history_before_the_window(call: Call, file: Path) -> None:
    """--history-days: rows with and without copies of an archive, and what the copies bring; --copies chooses when they
    were taken."""
    options = ("lab", "live", "--histories", file, "--days", 40, "--lab-only", "--history-days", "0,100")
    result = call(*options, "--json")
    assert result.code == 0, result.err
    assert [row["history_days"] for row in result.json["rows"]] == [0, 100] * 2
    warm = result.json["rows"][1]
    assert warm["lab_without_history"] == result.json["rows"][0]["lab_captured"]
    low, high = warm["gain_interval"]
    assert low <= warm["gain"] <= high
    weekly = call(*options, "--copies", "weekly", "--json")
    assert weekly.json["rows"][0] == result.json["rows"][0]
    assert "100 d" in call(*options).text


@pytest.mark.parametrize("flags", [("--history-days", "many"), ("--history-days", "-3"), ("--copies", "daily")])
def test_impossible_histories(call: Call, file: Path, flags: tuple[str, str]) -> None:
    """A wrong number of days, or kind of copies, is an error that says what is possible."""
    result = call("lab", "live", "--histories", file, "--days", 5, "--lab-only", *flags)
    assert result.code == 2
    assert "100" in result.err or "weekly" in result.err or "365" in result.err
