"""The visit-revisit chart."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from webstrata.errors import UsageError
from webstrata.plots.sharp import before_and_after, draw_expected
from webstrata.plots.visits import BLURRED, SHARP, SchedulePanel, VisitLine, draw_visits, schedule_panel
from webstrata.sharp.solar import solar_offline


def _text(file: Path) -> str:
    return " ".join(ET.parse(file).getroot().itertext())


def test_before_and_after_shrinking(tmp_path: Path) -> None:
    """Two panels with one line per page; hopeless pages differ; the file is reproducible."""
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        draw_visits(file, before_and_after([1, 2, 5, 5, 6, 6, 9]))
    shown = _text(files[0])
    assert all(word in shown for word in ("before shrinking", "after shrinking", "p0", "p6", "hopeless", "planned"))
    assert files[0].read_bytes() == files[1].read_bytes()


def test_sharp_and_blurred_pages(tmp_path: Path) -> None:
    """Sharp and blurred pages have different line styles and a legend."""
    schedule = solar_offline([1, 1, 9, 9])
    sides = schedule.visits.tolist(), schedule.revisits.tolist()
    panel = schedule_panel(*sides, schedule.hopeless, "run", [True, False, True, True])
    assert [line.state for line in panel.lines] == [SHARP, BLURRED, SHARP, SHARP]
    draw_visits(tmp_path / "run.svg", [panel])
    assert {"sharp", "blurred"} <= set(_text(tmp_path / "run.svg").split())


def test_many_pages_and_hostile_names(tmp_path: Path) -> None:
    """Thousands of pages are drawn without names; `$` in names is not interpreted as mathematics."""
    draw_visits(tmp_path / "many.png", [SchedulePanel("many", [VisitLine(f"p{n}", -n, n + 1) for n in range(6000)])])
    assert (tmp_path / "many.png").read_bytes().startswith(b"\x89PNG")
    draw_visits(
        tmp_path / "one.svg",
        [SchedulePanel("$\\frac", [VisitLine("http://h.test/$x$\\undefined" * 3, -1, 0)], "seconds")],
    )
    assert "seconds from the instant" in _text(tmp_path / "one.svg")


@pytest.mark.parametrize(
    ("name", "panels"),
    [("a.doc", [SchedulePanel("x", [VisitLine("p", -1, 1)])]), ("a.svg", []), ("a.svg", [SchedulePanel("x", [])])],
)
def test_nothing_to_draw(tmp_path: Path, name: str, panels: list[SchedulePanel]) -> None:
    """Unknown file formats and charts without pages raise an error."""
    with pytest.raises(UsageError):
        draw_visits(tmp_path / name, panels)


def test_expectations_and_bound(tmp_path: Path) -> None:
    """The bar chart has labels for every algorithm and both data sets."""
    from webstrata.lab.sharp.tables import TableRow

    rows = [
        TableRow(1, name, algorithm, 6.0, 6.0, 5.0, 7.0, 1.0, 9, paper, None, 8.0)
        for name in ("skewed", "smooth")
        for algorithm, paper in (("solar-offline", 5.5), ("optimal", None))
    ]
    draw_expected(tmp_path / "e.svg", rows)
    assert all(word in _text(tmp_path / "e.svg") for word in ("skewed", "smooth", "solar-offline", "optimal", "bound"))
