"""The picture of a forecast."""

from __future__ import annotations

from pathlib import Path

from webstrata.plots.forecast import ForecastCurve, draw_forecast

DAY_S = 86_400.0
CURVE = ForecastCurve(
    title="https://example.org/",
    subtitle="one in 30d",
    curve=[(day * DAY_S, 1 - 0.97**day) for day in range(200)],
    now=5 * DAY_S,
    by=12 * DAY_S,
    p_change=0.3,
    quantiles=[(0.1, 4 * DAY_S), (0.5, 23 * DAY_S), (0.9, None)],
)


def test_the_picture_shows_what_is_marked(tmp_path: Path) -> None:
    """Quantiles that are never reached are not drawn; the curve ends a little after the last mark."""
    figure = draw_forecast(tmp_path / "forecast.svg", CURVE)
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["now", "30% by 1970-01-13", "10%", "50%"]
    assert 23 <= axes.get_xlim()[1] <= 26
    assert (tmp_path / "forecast.svg").read_bytes() == _drawn_again(tmp_path)


def _drawn_again(folder: Path) -> bytes:
    draw_forecast(folder / "again.svg", CURVE)
    return (folder / "again.svg").read_bytes()
