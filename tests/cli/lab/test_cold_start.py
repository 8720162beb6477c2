"""`webstrata lab cold-start` on the command line."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from tests.cli.conftest import Call
from tests.lab.cold_start.small_sites import write_small_sites

FIELDS = {"corpus", "split", "initial", "history", "error", "low", "high", "balanced_error", "visits", "pages", "paper"}


def test_tables_and_schedule(tmp_path: Path, call: Call) -> None:
    """On recorded sites: rows with the documented fields, and the picture; with `--schedule` equal downloads."""
    sites, pictures = tmp_path / "sites", tmp_path / "pictures"
    write_small_sites(sites, days=65)
    words = ("lab", "cold-start", "--sites", sites, "--days", "60", "--seeds", "1", "--plot", pictures, "--json")
    result = call(*words)
    assert result.code == 0, result.err
    assert result.json.keys() == {"rows", "groups", "days", "seeds"}
    assert {row["split"] for row in result.json["rows"]} == {"pages", "sites"}
    assert all(set(row) == FIELDS for row in result.json["rows"])
    tested = {row["pages"] for row in result.json["rows"] if row["split"] == "sites"}
    assert tested == {30}

    result = call(*words, "--schedule")
    assert result.code == 0, result.err
    rows = result.json["schedule"]
    assert {row["start"] for row in rows} == {"population", "first-sight", "true group"}
    assert {row["match"] for row in rows} == {"state-2", "dyn"}
    for match in ("state-2", "dyn"):
        assert len({row["downloads"] for row in rows if row["match"] == match}) == 1
    assert all(row["ratio"] == 1.0 for row in rows if row["start"] == "population")
    assert sorted(file.name for file in pictures.iterdir()) == ["cold-start-errors.svg", "cold-start-schedule.svg"]


def test_histories(call: Call) -> None:
    """Histories have no features: a random class, and no groups to learn."""
    with as_file(files("webstrata.lab") / "data" / "histories" / "wikipedia.parquet") as file:
        result = call("lab", "cold-start", "--histories", file, "--seeds", "2", "--json")
    assert result.code == 0, result.err
    assert result.json["groups"] == {}
    assert [(row["split"], row["initial"], row["history"]) for row in result.json["rows"]] == [
        ("all", "random", "bayesian"),
        ("all", "random", "historic"),
    ]


def test_wrong_use(tmp_path: Path, call: Call) -> None:
    """Two sources, an empty folder, and histories with `--schedule` are refused with what to do."""
    for words, says in (
        (("--recorded", "--sites", tmp_path), "either"),
        (("--sites", tmp_path), "no recorded site"),
        (("--histories", tmp_path, "--schedule"), "--sites"),
    ):
        result = call("lab", "cold-start", *words)
        assert result.code == 2
        assert says in result.err
