"""Pages of recorded sites with features and changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.first_sight.page_table import as_training_pages, read_page_table, shipped_pages, write_page_table
from webstrata.lab.first_sight.recorded_pages import LONGEST_DAYS, MOST_PAGES, RecordedPage, _pages_of
from webstrata.lab.livingweb.recording import Recording

HTML = "<html><head><title>t</title></head><body><p>{}</p><p>{}</p></body></html>"


def _site(pages: dict[str, list[tuple[float, str | None]]]) -> Recording:
    contents = {
        name: HTML.format("some words that stay " * 5, name * 20).encode()
        for versions in pages.values()
        for _, name in versions
        if name
    }
    return Recording(
        site="one",
        pages={path: [(day * DAY_S, name) for day, name in versions] for path, versions in pages.items()},
        contents=contents,
    )


def test_changes_after_the_first_version() -> None:
    """Features are of the first version; changes count until the page is deleted or the recording ends; a page that
    lasted for too short a time is left out."""
    found = list(
        _pages_of(
            _site(
                {
                    "a.html": [(0, "first words"), (10, "second words"), (50, "third words")],
                    "gone.html": [(0, "x y"), (20, "z y"), (80, None), (90, "back again")],
                    "late.html": [(90, "late words")],
                    "empty.html": [(0, None)],
                }
            ),
            MOST_PAGES,
            1,
        )
    )

    assert [(page.path, page.lasted_days, page.changed_after_days) for page in found] == [
        ("a.html", 90.0, (10.0, 50.0)),
        ("gone.html", 80.0, (20.0,)),
    ]
    assert found[0].features["title_length"] == 1
    assert "has_last_modified" not in found[0].features


def test_table(tmp_path: Path) -> None:
    """What is written is read again, in single precision; another file is an error of use."""
    pages = [
        RecordedPage(site="s", path="p", features={"size": 3.0}, lasted_days=70.0, changed_after_days=(1.0, 2.5)),
        RecordedPage(site="s", path="q", features={"size": 4.0}, lasted_days=90.0, changed_after_days=()),
    ]
    write_page_table(pages, tmp_path / "pages.parquet")
    (tmp_path / "other.parquet").write_bytes(b"PAR1 nothing")

    assert read_page_table(tmp_path / "pages.parquet") == pages
    with pytest.raises(UsageError, match="not a table of pages"):
        read_page_table(tmp_path / "other.parquet")


def test_shipped_pages() -> None:
    """At most 250 pages of each of 18 sites, each with at most two years of changes."""
    pages = as_training_pages(shipped_pages())

    sites, counts = np.unique(pages.site, return_counts=True)
    assert len(sites) == 18
    assert counts.max() <= MOST_PAGES
    assert pages.history.counts.max() <= LONGEST_DAYS
    assert 0.3 < (pages.rates == 0).mean() < 0.5
    assert not np.isnan(pages.features).any()
