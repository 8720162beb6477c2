"""Reading histories of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from webstrata.errors import UsageError
from webstrata.lab.policies.histories import BUCKETS, make_histories, read_histories, shipped_histories

DAY = 86_400.0


def _row(**other: Any) -> dict[str, Any]:
    return {"corpus": "c", "page": "site/p", "first": 0.0, "until": 400 * DAY, "changes": [], **other}


def test_odd_order_is_put_right() -> None:
    """Changes are sorted and equal times count once; a page without changes is in the slowest class."""
    histories = make_histories([_row(changes=[9 * DAY, 3 * DAY, 9 * DAY]), _row(page="site/q")])

    assert histories.changes.tolist() == [3 * DAY, 9 * DAY]
    assert histories.offsets.tolist() == [0, 2, 2]
    assert histories.bucket == ["l>6m", "l>6m"]
    assert histories.site == ["site", "site"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"changes": [401 * DAY]}, "not after"),
        ({"changes": [0.0]}, "not after"),
        ({"changes": [-5.0]}, "not after"),
        ({"changes": [float("nan")]}, "not instants"),
        ({"until": float("nan")}, "later `until`"),
        ({"first": 500 * DAY}, "later `until`"),
        ({"first": -1.0}, "later `until`"),
        ({"page": None}, "no page"),
    ],
)
def test_what_cannot_be(wrong: dict[str, Any], said: str) -> None:
    """Changes after `until`, before `first` or without a time are errors that name the page."""
    with pytest.raises(UsageError, match=said):
        make_histories([_row(**wrong)])


@pytest.mark.parametrize(
    ("interval", "bucket"), [(3, 0), (7, 0), (8, 1), (15, 2), (31, 3), (61, 4), (125, 5), (200, 6)]
)
def test_buckets_by_mean_interval(interval: int, bucket: int) -> None:
    """The default bucket is that of the mean interval over the whole history."""
    number = 5
    until = interval * number * DAY
    histories = make_histories([_row(until=until, changes=np.linspace(until / number, until, number))])

    assert histories.bucket == [BUCKETS[bucket]]


def test_files(tmp_path: Path) -> None:
    """Files that are missing, lack columns or contain a page twice are refused; all files of a folder are read."""
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 not at all")
    with pytest.raises(UsageError, match="cannot be read"):
        read_histories([broken])
    broken.unlink()
    with pytest.raises(UsageError, match="no history file"):
        read_histories([tmp_path])
    with pytest.raises(UsageError, match="there is no"):
        read_histories([tmp_path / "absent.parquet"])
    pq.write_table(pa.table({"page": ["a"]}), tmp_path / "few.parquet")
    with pytest.raises(UsageError, match="lacks the columns corpus"):
        read_histories([tmp_path])
    (tmp_path / "few.parquet").unlink()
    rows = [_row(bucket="x", page=name, changes=[int(DAY)]) for name in ("a/1", "a/2")]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "one.parquet")
    assert read_histories([tmp_path]).page == ["a/1", "a/2"]
    pq.write_table(pa.Table.from_pylist(rows[:1]), tmp_path / "two.parquet")
    with pytest.raises(UsageError, match="twice"):
        read_histories([tmp_path])


def test_the_extract_of_the_package() -> None:
    """The package contains all pages of five corpora, in less than a megabyte."""
    histories = shipped_histories()
    folder = Path(__file__).parents[3] / "src/webstrata/lab/data/histories"

    assert len(histories) == 4120
    assert set(histories.corpus) == {"packages", "registry", "webpages", "webdata", "wikipedia"}
    assert set(histories.bucket) == set(BUCKETS)
    assert sum(file.stat().st_size for file in folder.iterdir()) < 1_000_000
    sites = set(zip(histories.corpus, histories.site, strict=True))
    assert len([site for corpus, site in sites if corpus == "registry"]) == 1
