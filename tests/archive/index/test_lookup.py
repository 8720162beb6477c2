from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.archive.conftest import START_AT, make_capture, open_archive, write_home
from webstrata.archive.index import cdxj
from webstrata.archive.index.lookup import Index

URLS = [
    "http://example.com/",
    "http://example.com/a",
    "http://example.com/a/b?q=1",
    "http://example.com/ab",
    "http://www.example.com/a",
    "http://sub.example.com/a",
    "http://example.com:8080/a",
    "http://example.community/a",
    "http://example.org/",
]


def written(folder: Path) -> Index:
    """An index of three segments, with the same URLs at different times."""
    for day in range(3):
        captures = [make_capture(url, at=START_AT + 86_400 * day + i) for i, url in enumerate(URLS)]
        write_home(folder, captures)
    return Index(folder / "index")


def test_matches(tmp_path: Path) -> None:
    """Exact, prefix, host and domain matches select the URLs that they name."""
    index = written(tmp_path)

    def found(url: str, **options: str) -> list[str]:
        return sorted({entry.url for entry in index.lookup(url, **options)})  # type: ignore[arg-type]

    assert found("http://example.com/a") == ["http://example.com/a", "http://www.example.com/a"]
    assert found("com,example)/a") == found("http://example.com/a")
    assert found("http://example.com/a", match="prefix") == sorted([*URLS[1:5]])
    assert found("http://example.com/zzz", match="host") == sorted(URLS[:5])
    assert found("http://example.com/", match="domain") == sorted(URLS[:7])
    assert found("http://absent.example/") == []
    index.close()


def test_times_and_limits(tmp_path: Path) -> None:
    """Both limits are inclusive; a partial timestamp matches all timestamps that begin with it."""
    index = written(tmp_path)
    url = "http://example.org/"
    stamps = [entry.timestamp for entry in index.lookup(url)]

    assert stamps == ["20260921141328", "20260922141328", "20260923141328"]
    assert [entry.timestamp for entry in index.lookup(url, since="20260922")] == stamps[1:]
    assert [entry.timestamp for entry in index.lookup(url, until=stamps[1])] == stamps[:2]
    assert [entry.timestamp for entry in index.lookup(url, since="20260922", until="20260922")] == stamps[1:2]
    assert [entry.timestamp for entry in index.lookup(url, limit=1)] == stamps[:1]
    prefix = index.lookup("http://example.com/", match="prefix", since="20260923", until="202609")
    assert {entry.timestamp[:8] for entry in prefix} == {"20260923"}
    index.close()


def test_order_of_everything(tmp_path: Path) -> None:
    """Merged lines are sorted by SURT, time, file and offset."""
    index = written(tmp_path)

    keys = [(entry.surt, entry.timestamp, entry.filename, entry.offset) for entry in index.entries()]

    assert keys == sorted(keys)
    assert len(keys) == 3 * len(URLS)
    index.close()


def test_growing_files_are_searched(tmp_path: Path) -> None:
    """A capture is found as soon as it is acknowledged, and only once when its file is finished."""

    async def run() -> None:
        archive = open_archive(tmp_path)
        index = Index(tmp_path / "index")
        assert list(index.entries()) == []
        for count, url in enumerate(reversed(URLS), start=1):
            await archive.append([make_capture(url)])
            assert len(list(index.entries())) == count
            assert any(entry.url == url for entry in index.lookup(url))
        before = list(index.entries())
        await archive.close()
        assert list(index.entries()) == before
        index.close()

    asyncio.run(run())


keys = st.text(alphabet="ab,)/ ", min_size=1, max_size=4)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(keys, st.integers(10, 99)), max_size=30), query=keys)
def test_binary_search_equals_a_scan(tmp_path: Path, rows: list[tuple[str, int]], query: str) -> None:
    """For any lines, the binary search finds the same lines as a scan."""
    made = [(key.replace(" ", "-") + ")", f"20{year}0101000000") for key, year in rows]
    lines = [f'{key} {stamp} {{"url": "u", "offset": "{i}"}}\n'.encode() for i, (key, stamp) in enumerate(made)]
    lines.sort(key=cdxj.sort_key)
    (tmp_path / "one.cdxj").write_bytes(b"".join(lines))
    index = Index(tmp_path)
    key = query.replace(" ", "-") + ")"

    assert list(index.lookup_lines(key)) == [line for line in lines if line.startswith(key.encode() + b" ")]
    assert list(index.lookup_lines(key, match="prefix")) == [line for line in lines if line.startswith(key.encode())]
    index.close()
