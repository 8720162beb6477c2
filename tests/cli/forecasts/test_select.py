"""`webstrata select`: order, limits, formats that other tools read, and the choice of a threshold."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Call
from tests.cli.forecasts.conftest import FAST, ONCE, SLOW, STILL

Peer = Callable[[str], str]


@pytest.mark.parametrize("method", ["value", "hacs"])
def test_pages_come_in_decreasing_probability(archived: Path, call: Call, method: str) -> None:
    """Each row has a probability and a reason; the fastest page is first. hacs has no forecast for a single copy."""
    found = call("--home", archived, "select", "--threshold", "0", "--by", method, "--json").json
    chances = [row["p"] for row in found["rows"]]
    assert chances == sorted(chances, reverse=True)
    assert all(row["reason"] for row in found["rows"])
    order = [row["url"] for row in found["rows"] if row["url"] != ONCE]
    assert order == [FAST, SLOW, STILL]
    assert found["unknown"] == (1 if method == "hacs" else 0)
    assert (ONCE in {row["url"] for row in found["rows"]}) == (method == "value")


def test_hacs_is_computed_as_in_the_paper(archived: Path, call: Call) -> None:
    """Copies of the slow page are 7 days apart; the update that was seen 38.5 days ago is moved 3.5 days back.

    The intervals are three times 7, then 3.5 to the update, then 10.5 and four times 7.
    """
    words = ("select", "--threshold", "0", "--by", "hacs", "--window", "all", "--json")
    rows = call("--home", archived, *words).json["rows"]
    slow = next(row for row in rows if row["url"] == SLOW)
    changed, unchanged = 3.5, 3 * 7 + 10.5 + 4 * 7
    rate = math.log1p(changed / unchanged) / changed  # the root of t_c / (exp(rate t_c) - 1) = t_u
    assert slow["rate_per_day"] == pytest.approx(rate, rel=1e-9)
    assert slow["p"] == pytest.approx(1 - math.exp(-rate * (42 + 7)), abs=1e-5)


def test_forecast_and_select_agree(archived: Path, call: Call) -> None:
    """The same page has the same probability in both commands."""
    rows = call("--home", archived, "select", "--threshold", "0", "--json").json["rows"]
    for row in rows:
        found = call("--home", archived, "forecast", row["url"], "--json").json
        assert found["p_change"] == pytest.approx(row["p"], abs=1e-4)


@pytest.mark.parametrize(
    ("options", "number"),
    [
        (("--top", "2"), 2),
        (("--budget", "3"), 3),
        (("--budget", "1/week", "--within", "14d"), 2),
        (("--top", "3", "--budget", "1"), 1),
        (("--threshold", "1"), 0),
        (("--top", "9", "--watched"), 0),
        (("--top", "9", "--host", "other.example"), 0),
        (("--top", "9", "--site"), 1),
        (("--top", "9", "--window", "1w", "--by", "hacs"), 0),
    ],
)
def test_limits(archived: Path, call: Call, options: tuple[str, ...], number: int) -> None:
    """Numbers of pages, and choices of pages, limit the list."""
    assert len(call("--home", archived, "select", *options, "--json").json["rows"]) == number


def test_seed_lists_are_read_by_other_crawlers(archived: Path, call: Call, tmp_path: Path, peer: Peer) -> None:
    """Scrapy itself makes requests of its file; the lines of the others have the fields that their readers take."""

    def lines(name: str) -> list[str]:
        out = tmp_path / name
        words = ("select", "--top", "2", "--by", "hacs", "--format", name, "--out", out)
        assert call("--home", archived, *words).code == 0
        return out.read_text().splitlines()

    assert lines("urls") == [FAST, SLOW]
    assert [line.partition("#")[0].strip() for line in lines("heritrix")] == [FAST, SLOW]
    for line, url in zip(lines("nutch"), [FAST, SLOW], strict=True):
        first, *metadata = line.split("\t")
        values = dict(one.split("=", 1) for one in metadata)
        assert first == url
        assert 0 < float(values["nutch.score"]) <= 1
    lines("scrapy")
    program = (
        "import json, scrapy, sys\n"
        "for line in open(sys.argv[1]):\n"
        "    request = scrapy.Request(**json.loads(line))\n"
        "    print(request.url, request.priority, sorted(request.meta))\n"
    )
    read = subprocess.run(
        [peer("python"), "-c", program, str(tmp_path / "scrapy")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    urls = [line.split()[0] for line in read.stdout.splitlines()]
    assert urls == [FAST, SLOW]


def test_parquet(archived: Path, call: Call, tmp_path: Path) -> None:
    """The table has the three columns of the rows."""
    import pyarrow.parquet as pq

    out = tmp_path / "seeds.parquet"
    result = call("--home", archived, "select", "--top", "3", "--out", out, "--json")
    assert result.json == {"file": str(out), "format": "parquet", "rows": 3}
    table = pq.read_table(out)
    assert table.column_names == ["url", "p", "reason"]
    assert table["url"][0].as_py() == FAST


@pytest.mark.parametrize("method", ["value", "hacs"])
def test_tune_finds_the_threshold_of_the_past(archived: Path, call: Call, method: str) -> None:
    """The best threshold separates the page that always changed from the others; the result is the same every time."""
    words = ("--home", archived, "select", "--tune", "--within", "7d", "--by", method, "--json")
    found = call(*words).json
    assert found["best"]["f1"] == max(row["f1"] for row in found["rows"])
    assert found["best"]["f1"] > 0.85
    assert found["best"]["recall"] > 0.8
    assert [row["theta"] for row in found["rows"]] == [number / 20 for number in range(21)]
    again = call(*words).json
    assert msgspec.json.encode(again["rows"]) == msgspec.json.encode(found["rows"])


def test_tune_without_a_past(home: Path, call: Call) -> None:
    """A home of which nothing is known says so."""
    result = call("--home", home, "select", "--tune")
    assert result.code == 0
    assert "no threshold can be chosen" in result.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give --threshold, --top or --budget"),
        (("--top", "1", "--within", "0s"), "more than 0"),
        (("--threshold", "1.5"), "a probability from 0 to 1"),
        (("--top", "1", "--by", "magic"), "Write value or hacs"),
        (("--budget", "2GB/day"), "is not a number of visits"),
        (("--budget", "0"), "does not allow a visit"),
        (("--top", "1", "--out", "x.doc"), "Give --format"),
        (("--top", "1", "--format", "parquet"), "cannot be written to stdout"),
        (("--tune", "--top", "1"), "--tune selects nothing"),
        (("--top", "1", "--json", "--format", "nutch"), "Leave out one of both"),
    ],
)
def test_errors_of_use(archived: Path, call: Call, words: tuple[str, ...], message: str) -> None:
    """Wrong options end with exit code 2 and a sentence."""
    result = call("--home", archived, "select", *words)
    assert result.code == 2
    assert message in result.err
