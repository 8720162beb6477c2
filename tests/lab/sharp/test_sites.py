"""Replayed sharp captures of recorded sites."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.recorded_site import RecordedLinks
from webstrata.lab.sharp.sites import SINGLE_PASS, STRATEGIES, site_rows

PAGE = b'<html><body><a href="b.html">b</a> <a href="/c.html">c</a></body></html>'


def _recording(changing: bool) -> Recording:
    """Six pages over two years; page c changes every day if `changing`."""
    names = ["index.html", "b.html", "c.html", "d.html", "e.html", "f.html"]
    pages: dict[str, list[tuple[float, str | None]]] = {name: [(0.0, f"{name}-0")] for name in names}
    pages["b.html"].append((729.0 * DAY_S, "b.html-1"))
    if changing:
        pages["c.html"] += [(day * DAY_S, f"c.html-{day}") for day in range(1, 730)]
    contents = {str(blob): PAGE if "index" in str(blob) else b"x" for all_of in pages.values() for _, blob in all_of}
    return Recording(site="small", pages=pages, contents=contents)


def test_a_quiet_site_is_sharp() -> None:
    """If nothing changes during a capture, every page is sharp with every strategy."""
    rows = [row for row in site_rows([_recording(False)], days=[2.0], starts=3) if row.starts == "any"]
    assert {row.algorithm for row in rows} == {SINGLE_PASS, *STRATEGIES}
    assert all(row.sharp == row.pages == 6 for row in rows)
    assert {row.proved for row in rows if row.algorithm == SINGLE_PASS} == {1.0}


def test_a_changing_page_is_blurred() -> None:
    """A page that changes daily is not sharp in a capture of many days, unless its download is the instant."""
    rows = list(site_rows([_recording(True)], days=[20.0], starts=4))
    best = {row.algorithm: row for row in rows if row.starts == "any"}
    assert 5.0 <= best["optimal-online"].sharp <= 6.0
    assert best["optimal-online"].expected == pytest.approx(5.0, abs=1.0)


def test_discovery_follows_links() -> None:
    """Pages that the home page links to are found on it; the others are seeds."""
    recording = _recording(False)
    tree = RecordedLinks(recording).tree(sorted(recording.pages), 1.0)
    paths = sorted(recording.pages)
    children = tree.children[paths.index("index.html")]
    assert sorted(paths[row] for row in children) == ["b.html", "c.html"]
    assert len(tree.seeds) == 4


@pytest.mark.parametrize("days", [[0.0], [-1.0], [9999.0], [float("nan")]])
def test_bad_lengths(days: list[float]) -> None:
    """Durations that are not above 0 and below the length of the recording raise an error."""
    with pytest.raises(UsageError):
        list(site_rows([_recording(False)], days=days))
