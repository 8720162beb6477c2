"""Lists of observations as sources of copies."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.history.reading import batches_of, counts_of
from webstrata.clock import DAY_S, parse_instant
from webstrata.history import gaps
from webstrata.history.gaps import GapsFile, gaps_of

NOW = parse_instant("20260101000000")


def test_observations(tmp_path: Path) -> None:
    """The last observation is at the time given; neighbours have the same digest exactly if nothing changed."""
    path = tmp_path / "lists.tsv"
    path.write_text(
        'http://a.org/\t[[1, false], [2.5, true], [1, 0], [3, 1]]\n{"url": "http://b.org", "observations": []}\n'
    )
    until = parse_instant("20250601000000")
    batch = batches_of(GapsFile(path, until=until, now=NOW))[0]
    first = [copy for copy in batch.copies if copy.url == "http://a.org/"]
    assert [(until - copy.at) / DAY_S for copy in first] == [7.5, 6.5, 4.0, 3.0, 0.0]
    assert [one.digest != two.digest for one, two in pairwise(first)] == [False, True, False, True]
    assert [copy.at for copy in batch.copies if copy.url == "http://b.org/"] == [until]
    assert counts_of([batch]) == {"kept": 6}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("http://a.org/ [[1, true]]", "malformed"),
        ("http://a.org/\t[[1]]", "malformed"),
        ("http://a.org/\t[[1, true, 2]]", "malformed"),
        ("http://a.org/\t[[0, true]]", "malformed"),
        ("http://a.org/\t[[-1, true]]", "malformed"),
        ("http://a.org/\t[[1e300, true]]", "malformed"),
        ("http://a.org/\t[[1, 2]]", "malformed"),
        ('http://a.org/\t[["1", true]]', "malformed"),
        ("http://a.org/\t[[1, true]", "malformed"),
        ('{"url": "http://a.org/"}', "malformed"),
        ('{"url": 1, "observations": []}', "malformed"),
        ("nothing\t[[1, true]]", "invalid-url"),
        ("ftp://a.org/\t[]", "invalid-url"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, reason: str) -> None:
    """A line that cannot be read is one row with a reason; the other lines are kept."""
    path = tmp_path / "lists.tsv"
    path.write_text(f"# comment\n\n{line}\nhttp://b.org/\t[[1, true]]\n")
    batches = batches_of(GapsFile(path, now=NOW))
    assert counts_of(batches) == {"kept": 2, reason: 1}
    assert batches[0].skipped[0].where == "lists.tsv:3"


def test_observations_before_the_web(tmp_path: Path) -> None:
    """Gaps that add up to more than the age of the web leave out the first observations only."""
    path = tmp_path / "lists.tsv"
    path.write_text("http://b.org/\t[[36000, true], [30, true]]\n")
    assert counts_of(batches_of(GapsFile(path, now=NOW))) == {"kept": 2, "invalid-date": 1}


def test_resumed_reading_keeps_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that goes on a day later puts the last observations at the time of its start."""
    monkeypatch.setattr(gaps, "BATCH_ROWS", 4)
    path = tmp_path / "lists.tsv"
    path.write_text("".join(f"http://a.org/{n}\t[[1, true], [2, false]]\n" for n in range(5)))
    batches = batches_of(GapsFile(path, now=NOW))
    later = GapsFile(path, now=NOW + DAY_S)
    assert later.key == GapsFile(path, now=NOW).key
    for index, batch in enumerate(batches):
        assert batches_of(later, batch.position) == batches[index + 1 :]
    assert GapsFile(path, until=NOW, now=NOW).key != later.key


@given(line=st.binary(max_size=200))
def test_any_line(line: bytes) -> None:
    """Any bytes are gaps, a sentence, or an empty line."""
    found = gaps_of(line)
    assert found is None or isinstance(found, str | tuple)
