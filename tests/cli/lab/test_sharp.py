"""`webstrata lab sharp`."""

from __future__ import annotations

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from webstrata.cli.app import application
from webstrata.errors import UsageError


def _run(*words: str) -> str:
    done = CliRunner().invoke(application("lab"), ["lab", "sharp", *words], catch_exceptions=True)
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize(
    ("words", "visits", "expected"),
    [
        (("--algorithm", "solar-offline"), [0, 1, 3, 2], 2.946908),
        (("--algorithm", "solar-offline-shrunk"), [0, 3, 2, 1], 2.893457),
        (("--algorithm", "hottest-middle"), [0, 1, 2, 3], 3.131778),
        ((), None, 3.131778),
        (("--algorithm", "optimal-online", "--tree", "0->1,2,3"), None, None),
    ],
)
def test_one_schedule(words: tuple[str, ...], visits: list[int] | None, expected: float | None) -> None:
    """The JSON document has slots by page, hopeless pages, the expectation and the bound."""
    schedule = json.loads(_run("--lengths", "1,1,9,9", *words, "--json"))
    assert {"visits", "revisits", "hopeless", "expected"} <= set(schedule)
    assert visits in (None, schedule["visits"])
    assert expected is None or schedule["expected"] == pytest.approx(expected, abs=5e-7)
    assert schedule["expected"] <= schedule["bound"] + 1e-9


def test_weights_and_pictures(tmp_path: Path) -> None:
    """Weights are used, and `--out` writes the chart."""
    words = ("--lengths", "1,1,1,1,6,6,6,6", "--weights", "1,1,1,1,1,1,1,5")
    assert json.loads(_run(*words, "--json"))["expected"] == pytest.approx(7.648777, abs=5e-7)
    assert "expected sharp: 7.648777" in _run(*words, "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "optimal.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--lengths", "1,x"), "commas"),
        (("--lengths", ""), "commas"),
        (("--lengths", "0,1"), "length 0"),
        (("--lengths", "nan"), "length nan"),
        (("--lengths", "1,2", "--weights", "1"), "1 weights for 2 pages"),
        (("--lengths", "1,2", "--algorithm", "best"), "There are: hottest-middle"),
        (("--lengths", "1,2", "--tree", "0->1;1->0", "--algorithm", "solar-online"), "cycle"),
        (("--lengths", "1,2", "--tau", "2"), "above 0 and below 1"),
    ],
)
def test_bad_input(words: tuple[str, ...], says: str) -> None:
    """Invalid input gives one sentence."""
    with pytest.raises(UsageError, match=says):
        _run(*words)


def test_tables(tmp_path: Path) -> None:
    """All rows of both tables have the documented fields, and `--out` writes the plots."""
    rows = json.loads(_run("--runs", "3", "--starts", "0", "--json", "--out", str(tmp_path)))["rows"]
    assert len(rows) == 20
    assert all({"table", "dataset", "algorithm", "expected", "simulated", "paper", "bound"} <= set(row) for row in rows)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "sharp-expected.svg",
        "sharp-schedules.svg",
        "sharp-shrinking.svg",
        "sharp.json",
    ]


def test_calibration(tmp_path: Path) -> None:
    """`--calibration` prints expected and realised counts of recorded sites, and draws them."""
    sites = tmp_path / "sites"
    sites.mkdir()
    with as_file(files("webstrata.lab") / "data" / "sites") as shipped:
        for kind in ("versions", "blobs"):
            shutil.copy(shipped / f"wot-td.{kind}.parquet", sites)
    picture = tmp_path / "new" / "picture.svg"
    words = ("--calibration", "--sites", str(sites))
    rows = json.loads(_run(*words, "--json", "--picture", str(picture)))["calibration"]
    assert picture.read_text().startswith("<?xml")
    assert {row["part"] for row in rows} == {"tested"}
    (whole,) = [
        row
        for row in rows
        if row["variant"] == "as recorded" and row["hours"] is row["low"] is None and not row["changed_before"]
    ]
    assert whole["expected"] == pytest.approx(whole["sharp"], rel=0.03)
    assert whole["sharp"] < whole["pages"]
    with pytest.raises(UsageError, match="picture format"):
        _run(*words, "--picture", str(tmp_path / "picture.txt"))


def test_hints() -> None:
    """`--hints` reports both parts of the sites, for first captures and for known sites."""
    report = json.loads(_run("--hints", "--json"))["hints"]
    assert [(row["part"], row["pages"]) for row in report["rows"]] == [("tuned", 143), ("tested", 88)] * 2
    assert set(report["factors"]) == {row["known"] for row in report["rows"]}
