"""The chart of a planned round."""

from __future__ import annotations

from pathlib import Path

import pytest

from webstrata.errors import UsageError
from webstrata.plots.crawl_time import MAX_ROWS, Bar, draw_round


def test_hosts_are_rows(tmp_path: Path) -> None:
    """Names are shown unchanged, also with dollar signs; the file is the same every time."""
    bars: list[Bar] = [(0, 0.0, 1.0), (1, 0.5, 3.0), (0, 2.0, 2.5)]
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]

    for file in files:
        draw_round(["a.example", "$x_$.example"], bars, file, title="A round")

    text = files[0].read_text()
    assert "a.example" in text
    assert "$x_$.example" in text
    assert files[1].read_text() == text


def test_large_rounds_show_the_last_hosts(tmp_path: Path) -> None:
    """Of many hosts those that end last are shown, with the number of the others."""
    bars = [(n, 0.0, 1.0 + n) for n in range(100)]

    draw_round([f"h{n}.example" for n in range(100)], bars, tmp_path / "many.svg", title="A round")

    text = (tmp_path / "many.svg").read_text()
    assert "h99.example" in text
    assert "h0.example" not in text
    assert f"{100 - MAX_ROWS} hosts that end earlier are not shown" in text


def test_an_empty_round_is_an_empty_chart(tmp_path: Path) -> None:
    """Without requests the chart has no bars; an unknown file format is refused."""
    draw_round([], [], tmp_path / "none.png", title="A round")

    assert (tmp_path / "none.png").stat().st_size > 1000
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_round([], [], tmp_path / "none.doc", title="A round")
