"""`webstrata lab hacs` on the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Call
from tests.lab.policies.made_histories import made_rows
from webstrata.lab.livingweb.recording import load_shipped


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    """A file with two small corpora."""
    rows = [
        {**row, "bucket": "l>6m", "changes": [int(at) for at in row["changes"]]}
        for corpus in ("one", "two")
        for row in made_rows(20, 300, seed=len(corpus), corpus=corpus)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "made.parquet")
    return tmp_path / "made.parquet"


def test_the_document(histories: Path, call: Call) -> None:
    """Rows for each corpus, model, window, threshold and average; the same seed gives the same document."""
    words = ("lab", "hacs", "--histories", histories, "--w", "2,4", "--json")
    result = call(*words)
    assert result.code == 0, result.err
    rows, ranking = result.json["rows"], result.json["ranking"]

    keys = [(row["corpus"], row["model"], row["w"], row["theta"], row["average"]) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * 3 * 2 * 21 * 2
    assert {row["model"] for row in rows} == {"hacs", "random", "brute-force"}
    assert {row["average"] for row in rows} == {"micro", "macro"}
    assert sorted({row["theta"] for row in rows})[:3] == [0.0, 0.05, 0.1]
    assert {row["recall"] for row in rows if row["model"] == "brute-force"} == {1.0}
    assert {(row["corpus"], row["model"], row["w"]) for row in ranking} == {
        (corpus, model, w) for corpus in ("one", "two") for model in ("hacs", "last-obs", "random") for w in (2, 4)
    }
    assert all(0 <= row["p_at_k"] <= 1 for row in ranking)
    assert [one["corpus"] for one in result.json["distributions"]] == ["one", "two", "all sites"]
    assert [check["times"] for check in result.json["distributions"][0]["poisson"]] == [
        "true",
        "interpolated",
        "simulated",
    ]
    assert call(*words).out == result.out
    assert call(*words, "--seed", "2").out != result.out
    assert call(*words, "--gaps", "10..60").json["distributions"][0]["copy_gap_days"][1] > 10


def test_text_and_figures(histories: Path, tmp_path: Path, call: Call) -> None:
    """Tables on stdout, the names of the written figures on stderr."""
    result = call("lab", "hacs", histories, "--w", "1..2", "--e", "2w", "--plot", tmp_path / "figures")
    assert result.code == 0, result.err

    assert "Brute Force" in result.text
    assert "log-normal" in result.text
    assert len(list((tmp_path / "figures").glob("hacs-*.svg"))) == result.err.count("wrote ") == 8


def test_recorded_sites_of_a_folder(tmp_path: Path, call: Call) -> None:
    """Each kind of update at each level is a corpus."""
    recording = next(one for one in load_shipped() if one.site == "spencerahill")
    versions = [
        {"path": path, "at": round(at * 1000), "blob": blob}
        for path, listed in recording.pages.items()
        for at, blob in listed
    ]
    pq.write_table(pa.Table.from_pylist(versions), tmp_path / "spencerahill.versions.parquet")
    blobs = [{"blob": blob, "content": content} for blob, content in recording.contents.items()]
    pq.write_table(pa.Table.from_pylist(blobs), tmp_path / "spencerahill.blobs.parquet")
    result = call("lab", "hacs", "--sites", tmp_path, "--w", "12", "--json")
    assert result.code == 0, result.err

    assert {row["corpus"] for row in result.json["rows"]} == {
        f"{update}/{level}"
        for update in ("links", "internal links", "external links", "content")
        for level in ("page", "website")
    }


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--w", "0..3"), "--w 0..3"),
        (("--w", "13"), "1..12"),
        (("--w", "two"), "--w two"),
        (("--w", "5..2"), "--w 5..2"),
        (("--e", "1h"), "at least a day"),
        (("--e", "soon"), "soon"),
        (("--gaps", "30..2"), "2..30"),
        (("--gaps", "nan..3"), "2..30"),
        (("--recorded", "--sites", "."), "either"),
        (("--sites", "."), "contains no recorded sites"),
        (("nowhere.parquet",), "nowhere.parquet"),
        (("--e", "2000d"), "shorter --e"),
    ],
)
def test_wrong_use(words: tuple[str, ...], text: str, call: Call) -> None:
    """The message says what to give instead."""
    result = call("lab", "hacs", *words)

    assert result.code == 2
    assert text in result.err
