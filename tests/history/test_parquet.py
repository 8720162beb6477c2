"""Parquet files as sources of copies."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.history.reading import batches_of, counts_of
from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.history import parquet
from webstrata.history.parquet import ParquetCopies

NOW = parse_instant("20260101000000")
EXTRACT = Path(parquet.__file__).parents[1] / "lab" / "data" / "histories"
YEAR_S = 365 * 86_400.0
TIMES = [parse_instant(text) for text in ("20200101", "20200201", "20200301", "20200401")]


def _write(path: Path, rows: list[dict[str, Any]], group_rows: int = 1000, schema: Any = None) -> Path:
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, row_group_size=group_rows)
    return path


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _history(page: str, **changes: Any) -> dict[str, Any]:
    first, *changed, until = TIMES
    row = {"corpus": "c", "page": page, "first": _moment(first), "until": _moment(until), "changes": changed}
    return {**row, **changes}


def test_histories(tmp_path: Path) -> None:
    """A page has a copy at its first time, at each change with a new digest, and at the end with the last digest."""
    path = _write(tmp_path / "h.parquet", [_history("a b/c?"), _history("http://b.org/", until=_moment(TIMES[2]))])
    copies = batches_of(ParquetCopies(path, template="https://example.org/{corpus}/{page}", now=NOW))[0].copies
    first = [copy for copy in copies if copy.url == "https://example.org/c/a%20b/c%3F"]
    assert [copy.at for copy in first] == TIMES
    assert [one.digest != two.digest for one, two in pairwise(first)] == [True, True, False]
    assert [copy.at for copy in copies if copy.url == "http://b.org/"] == TIMES[:3]


def test_bad_histories(tmp_path: Path) -> None:
    """Pages without a URL or a time, and times out of order, are counted."""
    rows = [
        _history("a"),
        _history("http://b.org/", first=None),
        _history("http://c.org/", changes=[TIMES[2], TIMES[1]]),
        _history("http://d.org/", until=datetime(2030, 1, 1, tzinfo=UTC)),
        _history("http://e.org/", changes=None),
    ]
    counts = counts_of(batches_of(ParquetCopies(_write(tmp_path / "h.parquet", rows), now=NOW)))
    assert counts == {"kept": 6, "invalid-url": 1, "invalid-date": 1, "out-of-order": 1, "future": 1, "malformed": 1}


@pytest.mark.parametrize("kind", ["timestamp", "nanoseconds", "seconds", "digits"])
def test_copies(tmp_path: Path, kind: str) -> None:
    """Times may be timestamps of any unit, epoch seconds or 14 digits; archive and status are optional."""
    at = TIMES[0] + 7
    value, type_ = {
        "timestamp": (_moment(at), pa.timestamp("us", tz="UTC")),
        "nanoseconds": (int(at) * 10**9 + 1, pa.timestamp("ns")),
        "seconds": (int(at), pa.int64()),
        "digits": ("20200101000007", pa.string()),
    }[kind]
    schema = pa.schema([("url", pa.string()), ("time", type_), ("digest", pa.string()), ("status", pa.int32())])
    rows: list[dict[str, Any]] = [
        {"url": "http://a.org", "time": value, "digest": "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "status": 200},
        {"url": "http://a.org", "time": value, "digest": None, "status": 404},
        {"url": "http://a.org", "time": None, "digest": None, "status": None},
        {"url": "http://a.org", "time": value, "digest": "none", "status": None},
        {"url": None, "time": value, "digest": None, "status": None},
    ]
    source = ParquetCopies(_write(tmp_path / "copies.parquet", rows, schema=schema), now=NOW)
    batches = batches_of(source)
    assert counts_of(batches) == {"kept": 1, "error-status": 1, "invalid-date": 1, "bad-checksum": 1, "malformed": 1}
    copy = batches[0].copies[0]
    assert (copy.url, copy.at, copy.archive, copy.status) == ("http://a.org/", at, "copies", 200)


def test_resumed_reading_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the position of any batch, in any row group, reading goes on with the same copies."""
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    monkeypatch.setattr(parquet, "_DECODED_ROWS", 2)
    path = _write(tmp_path / "h.parquet", [_history(f"http://a.org/{n}") for n in range(23)], group_rows=5)
    source = ParquetCopies(path, now=NOW)
    batches = batches_of(source)
    assert counts_of(batches) == {"kept": 92}
    for index, batch in enumerate(batches):
        assert batches_of(source, batch.position) == batches[index + 1 :]
    assert batches[-1].done == 1.0


def test_shipped_histories() -> None:
    """The shipped extract of real histories is read whole."""
    path = EXTRACT / "webpages.parquet"
    counts = counts_of(batches_of(ParquetCopies(path, template="https://example.org/{page}", now=NOW + 10 * YEAR_S)))
    assert counts["kept"] > 1000
    assert counts.keys() == {"kept"}


def test_damaged_files(tmp_path: Path) -> None:
    """A file that is no Parquet file, or has other columns, is an error of use; damage inside costs a row group."""
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1", b"text" * 100):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="cannot be read as Parquet"):
            ParquetCopies(path, now=NOW)
    with pytest.raises(UsageError, match="has the columns a"):
        ParquetCopies(_write(path, [{"a": 1}]), now=NOW)
    with pytest.raises(UsageError, match="has no"):
        ParquetCopies(_write(path, [_history("a")]), template="https://example.org/", now=NOW)
    _write(path, [_history(f"http://a.org/{n}") for n in range(40)], group_rows=20)
    data = bytearray(path.read_bytes())
    data[10:400] = b"\xff" * 390
    path.write_bytes(bytes(data))
    counts = counts_of(batches_of(ParquetCopies(path, now=NOW)))
    assert counts["kept"] >= 80
    assert counts["malformed"] == 1
