"""`webstrata estimate FILE`: rates with intervals, and a clear word for every file that cannot be."""

from __future__ import annotations

import datetime
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Call, Demo
from webstrata.lab.estimators.registry import ESTIMATORS

CSV = """page,time,changed
http://a.test/,2024-01-01,
http://a.test/,2024-01-08,1
http://b.test/,20240101000000,false
http://a.test/,2024-01-15T00:00:00Z,0
http://b.test/,1704672000,no
"""


def test_csv(tmp_path: Path, call: Call) -> None:
    """Every page has every estimator's rate, some with an interval; one change in two weeks is ln 2 a week."""
    file = tmp_path / "seen.csv"
    file.write_text(CSV)

    result = call("estimate", file, "--json")

    assert (result.code, result.err) == (0, "")
    one, other = result.json["pages"]
    assert (one["page"], one["visits"], one["changes"]) == ("http://a.test/", 3, 1)
    assert (one["first"], one["last"]) == ("2024-01-01T00:00:00Z", "2024-01-15T00:00:00Z")
    assert list(one["estimates"]) == list(ESTIMATORS)
    irregular = one["estimates"]["irregular"]
    assert irregular["rate_per_day"] == pytest.approx(math.log(2) / 7)
    assert 0 < irregular["low"] < irregular["rate_per_day"] < irregular["high"]
    assert other["estimates"]["naive"] == {
        "rate_per_day": 0.0,
        "error": None,
        "low": None,
        "high": None,
        "has_interval": False,
    }
    assert other["estimates"]["regular"] == {
        "rate_per_day": 0.0,
        "error": None,
        "low": 0.0,
        "high": pytest.approx(math.log(30) / 7),
        "has_interval": True,
    }
    assert result.json["prior"]["pages"] == 0


def test_json_lines_and_parquet_say_the_same(tmp_path: Path, call: Call) -> None:
    """The same rows give the same answer in every format."""
    at = [datetime.datetime(2024, 1, day, tzinfo=datetime.UTC) for day in (1, 8, 15)]
    flags = [False, True, False]
    (tmp_path / "seen.csv").write_text(
        "page,time,changed\n" + "".join(f"p,{when.isoformat()},{flag}\n" for when, flag in zip(at, flags, strict=True))
    )
    (tmp_path / "seen.jsonl").write_text(
        "\n".join(
            f'{{"page": "p", "time": {int(when.timestamp())}, "changed": {str(flag).lower()}}}'
            for when, flag in zip(at, flags, strict=True)
        )
    )
    pq.write_table(pa.table({"page": ["p"] * 3, "time": at, "changed": flags}), tmp_path / "seen.parquet")

    answers = [call("estimate", tmp_path / f"seen.{kind}", "--json").json for kind in ("csv", "jsonl", "parquet")]

    assert answers[0]["pages"] == answers[1]["pages"] == answers[2]["pages"]


def test_many_pages_teach_the_prior(tmp_path: Path, call: Call) -> None:
    """From twenty pages on the prior is learned from the file; people see a table, programs may choose estimators."""
    rows = [f"p{page},{86400 * 7 * week},{int(week % (page + 2) == 0)}" for page in range(25) for week in range(12)]
    file = tmp_path / "seen.csv"
    file.write_text("page,time,changed\n" + "\n".join(rows))

    result = call("estimate", file, "--json", "--estimator", "bayesian")

    assert result.json["prior"]["pages"] == 25
    assert {tuple(page["estimates"]) for page in result.json["pages"]} == {("bayesian",)}
    assert "learned from 25 pages" in call("estimate", file).text


def test_one_page_for_people(tmp_path: Path, call: Call) -> None:
    """One page is shown with all estimators under each other."""
    file = tmp_path / "seen.csv"
    file.write_text("".join(line + "\n" for line in CSV.splitlines() if "b.test" not in line))

    shown = call("estimate", file).text

    assert all(name in shown for name in ESTIMATORS)
    assert "10.1 d" in shown


HEAD = "page,time,changed\n"
BAD = [
    ("", "no observations"),
    (HEAD, "no observations"),
    ("page,time\np,2024\n", "lacks changed"),
    (HEAD + "p,2024-01-02,1\np,2024-01-01,0\n", "row 3: p after a later time"),
    (HEAD + "p,2024-01-02,1\np,2024-01-02,0\n", "row 3: p twice at"),
    (HEAD + "p,2124-01-02,1\n", "is in the future"),
    (HEAD + "p,1e300,1\n", "is in the future"),
    (HEAD + "p,-5,1\n", "not before 1970"),
    (HEAD + "p,nan,1\n", "is not a time"),
    (HEAD + "p,inf,1\n", "is not a time"),
    (HEAD + "p,soon,1\n", "not a time"),
    (HEAD + "p,,1\n", "not a time"),
    (HEAD + "p,2024,1\np,2025,maybe\n", "true or false"),
    (HEAD + "p,2024,1\np,2025,\n", "true or false"),
    (HEAD + ",2024,1\n", "no page"),
    (HEAD + "p\n", "no time"),
    (HEAD + "p," + "9" * 200_000 + ",1\n", "not CSV"),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_bad_csv_is_told(text: str, expected: str, tmp_path: Path, call: Call) -> None:
    """What cannot be a history is a sentence with the row and exit code 2."""
    file = tmp_path / "seen.csv"
    file.write_text(text)
    result = call("estimate", file)
    assert result.code == 2
    assert expected in result.err
    assert result.out == b""


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("a.jsonl", b"[1]\n", "an object with"),
        ("a.jsonl", b"{\n", "not JSON"),
        ("a.jsonl", b'{"page": "p", "time": true, "changed": 1}\n', "no time"),
        ("a.jsonl", b'{"page": 5, "time": 1, "changed": 1}\n', "no page"),
        ("a.jsonl", b"[" * 100_000, "not JSON"),
        ("a.parquet", b"PAR1 no such thing", "cannot be read as Parquet"),
        ("a.csv", b"page,time,changed\n\xff\xfe,1,1\n", "not text in UTF-8"),
    ],
)
def test_bad_files_are_told(name: str, body: bytes, expected: str, tmp_path: Path, call: Call) -> None:
    """Other formats fail as clearly."""
    file = tmp_path / name
    file.write_bytes(body)
    result = call("estimate", file)
    assert result.code == 2
    assert expected in result.err


def test_bad_arguments_are_told(tmp_path: Path, call: Call) -> None:
    """A file that is not there, a column that is missing, an estimator that does not exist."""
    assert call("estimate", tmp_path / "absent.csv").code == 2
    pq.write_table(pa.table({"page": ["p"]}), tmp_path / "seen.parquet")
    assert "no column time" in call("estimate", tmp_path / "seen.parquet").err
    (tmp_path / "seen.csv").write_text(CSV)
    assert "no estimator 'best'" in call("estimate", tmp_path / "seen.csv", "--estimator", "best").err
    assert "is in the future" in call("estimate", tmp_path / "seen.csv", "--now", "2024-01-10").err


def test_store(demo: Demo, tmp_path: Path, call: Call) -> None:
    """`--store` estimates from the logged visits, with the results of the same observations in a file."""
    result = call("estimate", "--store", "--home", demo.home, "--host", "llvm.test", "--json")

    assert (result.code, result.json["file"]) == (0, None)
    pages = [page["page"] for page in result.json["pages"]]
    listed = call("--home", demo.home, "list", "--host", "llvm.test", "--json").json["pages"]
    assert sorted(pages) == sorted(page["url"] for page in listed if page["visits"])
    rows = ["page,time,changed"]
    for page in pages:
        visits = call("--home", demo.home, "log", page, "--json").json["visits"][::-1]
        rows += [f"{page},{visit['at']},{visit['changed']}" for visit in visits if visit["failure"] is None]
    file = tmp_path / "seen.csv"
    file.write_text("\n".join(rows))
    expected = call("estimate", file, "--json").json
    assert result.json["prior"] == pytest.approx(expected["prior"])
    for found, other in zip(result.json["pages"], expected["pages"], strict=True):
        assert all(found[name] == other[name] for name in ("page", "visits", "changes", "first", "last"))
        for name, estimate in found["estimates"].items():
            rate = estimate["rate_per_day"]
            assert rate == (None if rate is None else pytest.approx(other["estimates"][name]["rate_per_day"], rel=1e-6))
    table = call("estimate", "--store", "--home", demo.home).text.splitlines()
    assert table[0].split()[-1] == "page"
    early = call("estimate", "--store", "--home", demo.home, "--now", "2023-01-02", "--json").json["pages"]
    assert {page["visits"] for page in early} == {1}


def test_store_mistakes(demo: Demo, home: Path, tmp_path: Path, call: Call) -> None:
    """Either a file or --store; --tag and --host only with --store; a store without visits is reported."""
    file = tmp_path / "seen.csv"
    file.write_text(CSV)
    assert call("estimate").code == 2
    assert call("estimate", file, "--store", "--home", demo.home).code == 2
    assert call("estimate", file, "--tag", "x").code == 2
    assert "was seen yet" in call("estimate", "--store", "--home", home).err
    assert call("estimate", "--store", "--home", demo.home, "--tag", "none").code == 2
