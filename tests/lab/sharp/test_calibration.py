"""Expected probabilities compared with what happened, on recorded sites and on a made-up one."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.livingweb.recording import Recording, load_shipped
from webstrata.lab.sharp.calibration import (
    AS_RECORDED,
    TESTED,
    TUNED_ON,
    VARIANTS,
    Variant,
    calibration,
    forecast_series,
)
from webstrata.lab.sharp.visible_versions import VisibleVersions

DURATIONS_S = (6 * 3600.0, 14 * DAY_S)


def page(text: str, script: str = "") -> bytes:
    return f"<html><body><main><p>{text}</p></main><script>{script}</script></body></html>".encode()


def made_up(hours_between_changes: float) -> Recording:
    """Twelve pages over two years; four of them change regularly."""
    names = ["index.html", *(f"{letter}.html" for letter in "abcdefghijk")]
    pages: dict[str, list[tuple[float, str | None]]] = {name: [(0.0, name)] for name in names}
    contents = {name: page(f"page {name}") for name in names}
    for number in range(int(730 * 24 / hours_between_changes)):
        contents[f"version {number}"] = page(f"version {number} of the page")
        for offset, name in enumerate(names[4:8]):
            at = (number + 1 + offset / 4) * hours_between_changes * 3600.0
            pages[name].append((at, f"version {number}"))
    return Recording(site="made-up", pages=pages, contents=contents)


def test_expected_and_realised_agree_on_sites_that_were_not_used_for_tuning() -> None:
    """The counts agree within 3 % for every duration; monthly captures over two years."""
    recordings = [recording for recording in load_shipped() if recording.site not in TUNED_ON]
    rows = calibration(recordings, durations_s=DURATIONS_S, every_s=(30 * DAY_S,), variants=(AS_RECORDED,))
    assert {row.part for row in rows} == {TESTED}
    whole = [row for row in rows if row.low is None and not row.changed_before]
    assert [row.hours for row in whole] == [6.0, 336.0, None]
    for row in whole:
        assert row.pages > 1500
        assert row.ratio == pytest.approx(1.0, abs=0.03), row
    for row in rows:
        if row.pages > 500:  # in smaller bins a single burst of changes decides
            assert row.ratio == pytest.approx(1.0, abs=0.05), row
    bins = [row for row in rows if row.low is not None]
    assert sum(row.pages for row in bins) == whole[-1].pages
    assert all(row.low is not None and row.high is not None for row in bins)
    assert all((row.low or 0.0) <= row.expected / row.pages <= (row.high or 0.0) for row in bins)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_site_with_changing_pages(variant: Variant) -> None:
    """Whatever the site's speed, after some captures pages that changed in earlier ones are expected at their true
    probability, and the others near 1."""
    versions = VisibleVersions(made_up(hours_between_changes=48.0))
    series = forecast_series(versions, 12 * 3600.0, 7 * DAY_S, variant)
    forecasts = [forecast for forecast in series if forecast.capture > 10]
    changing = [forecast for forecast in forecasts if forecast.changed_before]
    assert 100 < len(changing) < len(forecasts)
    assert max(forecast.chance for forecast in changing) < 0.99
    expected = sum(forecast.chance for forecast in forecasts)
    assert expected == pytest.approx(sum(forecast.sharp for forecast in forecasts), rel=0.05)


def test_a_page_with_a_clock() -> None:
    """A page that differs at every download is expected to be blurred from the second capture on; a Gamma prior alone
    would expect 0.9999 of it."""
    versions = VisibleVersions(made_up(hours_between_changes=24 * 365.0))
    (noisy,) = [variant for variant in VARIANTS if variant.noisy]
    blurred = [forecast for forecast in forecast_series(versions, 600.0, 30 * DAY_S, noisy) if not forecast.sharp]
    first, later = ([row for row in blurred if row.changed_before is changed] for changed in (False, True))
    assert len(first) <= 4
    assert len(later) > 10
    assert max(forecast.chance for forecast in later) < 0.9
    assert later[-1].chance < 0.6


def test_only_visible_changes_count() -> None:
    """A version that differs only in a script is no other version; a deleted page is."""
    contents = {"one": page("text", "a=1"), "two": page("text", "a=2"), "three": page("other text")}
    pages: dict[str, list[tuple[float, str | None]]] = {
        "index.html": [(0.0, "one"), (10.0, "two"), (20.0, "three"), (30.0, None)]
    }
    versions = VisibleVersions(Recording(site="s", pages=pages, contents=contents))
    assert versions.published == [0.0, 20.0, 30.0]
    assert versions.content("index.html", 5.0) == versions.content("index.html", 15.0)
    assert versions.content("index.html", 15.0) != versions.content("index.html", 25.0)
    assert versions.content("index.html", -1.0) is None
    assert versions.alive_at(25.0) == versions.pages
    assert versions.alive_at(30.0) == []


def test_bad_durations() -> None:
    """Captures need a duration, and end before the next one starts."""
    for durations_s in ((), (0.0,), (31 * DAY_S,)):
        with pytest.raises(UsageError, match="Captures last"):
            calibration([], durations_s=durations_s)
