"""Recordings: reading from files, clipping to windows, versions at instants."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lab.livingweb.recordings import DAY, T0, boost, make_recording
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import read_recording, read_recordings, tidy
from webstrata.urls import canonical

AT = [
    ("index.html", -11, None),
    ("index.html", -10, b"first"),
    ("index.html", 2.999, b"first"),
    ("index.html", 3, b"second"),
    ("news/a b.html", 1.5, b"two"),
    ("news/a b.html", 2, None),
    ("news/a b.html", 400, b"three"),
    ("late.html", 4.9, None),
    ("nowhere", 1, None),
]


@pytest.mark.parametrize(("path", "day", "content"), AT)
def test_an_instant_has_one_version(path: str, day: float, content: bytes | None) -> None:
    """The version at an instant is the last one published, that instant included."""
    recording = boost()
    version = recording.version_at(path, T0 + day * DAY)
    found = recording.contents[version[1]] if version and version[1] else None
    assert (found is None) == (content is None)
    assert content is None or content in (found or b"")


def test_urls_are_canonical_and_index_pages_have_the_url_of_their_folder() -> None:
    """Each page's URL is in canonical form, and the URL of an index page is that of its folder."""
    recording = boost()
    urls = [recording.url(path) for path in recording.pages]
    assert urls[:3] == ["http://boost.test/", "http://boost.test/users/", "http://boost.test/news/a%20b.html"]
    assert [canonical(url) for url in urls] == urls


def test_only_visible_versions_remain() -> None:
    """Of several versions at one instant the last remains, and repeated content is no version."""
    assert tidy([(1, "a"), (1, "b"), (2, "b"), (3, None), (4, None), (5, "c"), (5, None)]) == [(1, "b"), (3, None)]
    assert tidy([(1, None), (2, "a")]) == [(2, "a")]


def test_a_window_keeps_what_is_visible_in_it() -> None:
    """A clipped recording has the same versions at every instant of the window, and no unused contents."""
    whole = boost()
    window = (T0 + 1.5 * DAY, T0 + 4 * DAY)
    part = whole.within(window)
    for path in whole.pages:
        for day in (1.5, 1.9, 2, 3, 3.5, 4):
            at = T0 + day * DAY
            before, after = whole.version_at(path, at), part.version_at(path, at)
            assert (before and before[1]) == (after and after[1])
    assert "late.html" not in part.pages
    assert {blob for versions in part.pages.values() for _, blob in versions if blob} == part.contents.keys()


def test_alive_pages_exist() -> None:
    """Deleted pages and pages that are not published yet are not alive."""
    recording = boost()
    assert "news/a b.html" in recording.alive_at(T0)
    assert "news/a b.html" not in recording.alive_at(T0 + 2 * DAY)
    assert "late.html" not in recording.alive_at(T0)


def _write(folder: Path, site: str, *, drop_contents: bool = False) -> None:
    rows = [("p.html", 0, "a"), ("q.csv", 0, "b"), ("p.html", 86_400_000, "c"), ("p.html", 99_000_000, None)]
    versions = pa.table(
        {
            "path": pa.array([row[0] for row in rows]),
            "at": pa.array([row[1] for row in rows], pa.timestamp("ms", "UTC")),
            "blob": pa.array([row[2] for row in rows]),
        }
    ).replace_schema_metadata({"licence": "CC0-1.0"})
    pq.write_table(versions, folder / f"{site}.versions.parquet")
    names = ["a"] if drop_contents else ["a", "b", "c"]
    blobs = pa.table({"blob": names, "content": pa.array([name.encode() for name in names], pa.binary())})
    pq.write_table(blobs, folder / f"{site}.blobs.parquet", row_group_size=1)


def test_files_are_read(tmp_path: Path) -> None:
    """A pair of files gives pages, contents and licence; with a window, only what is visible in it."""
    _write(tmp_path, "one")
    _write(tmp_path, "two")
    whole = read_recording(tmp_path, "one")
    assert whole.licence == "CC0-1.0"
    assert whole.pages == {"p.html": [(0.0, "a"), (86_400.0, "c"), (99_000.0, None)], "q.csv": [(0.0, "b")]}
    assert whole.contents == {"a": b"a", "b": b"b", "c": b"c"}
    early, _ = read_recordings(tmp_path, window=(10.0, 20.0))
    assert early.pages == {"p.html": [(0.0, "a")], "q.csv": [(0.0, "b")]}
    assert early.contents == {"a": b"a", "b": b"b"}
    assert [recording.site for recording in read_recordings(tmp_path, ["two"])] == ["two"]


def test_missing_files_and_contents_are_errors(tmp_path: Path) -> None:
    """The message about a missing or incomplete recording names it."""
    with pytest.raises(UsageError, match="none"):
        read_recording(tmp_path, "none")
    _write(tmp_path, "torn", drop_contents=True)
    with pytest.raises(UsageError, match="lacks 2 contents"):
        read_recording(tmp_path, "torn")


def test_hand_made_recordings_are_complete() -> None:
    """Every version of a hand-made recording has its content."""
    recording = make_recording("x", {"a": [(0, "one"), (1, None)]})
    assert all(blob is None or blob in recording.contents for blob in (b for _, b in recording.pages["a"]))
