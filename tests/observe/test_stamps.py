"""Stamps: lines that only say when or from what a page was made."""

from __future__ import annotations

import pytest

from webstrata.observe.stamps import is_stamp
from webstrata.observe.text_runs import run_shape

STAMPS = [
    "Last updated: 2017-01-03",
    "Updated 5 April 2026",
    "This page was last modified on 12 May 2025, at 17:03.",
    "Code version: a2ac1b3f7e55d0c2b94a",
    "Copyright © 2005-2016 Example Inc.",
    "Generated on Mon Jun 3 2024 12:00:01 by Doxygen 1.8.11",
    "Zuletzt geändert am 3. Mai 2026",
    "Dernière mise à jour : 14/07/2025",
    "Última actualización: 3 de mayo de 2026",
    "最終更新 2026-05-03",
]
CONTENT = [
    "Version 2.3.1 was released on 3 May 2026.",
    "Next meeting: 12 May 2026",
    "Price last updated: 12 EUR",
    "Posted on 3 May 2026",
    "3 left in stock",
    "Last updated recently",
    "The law was modified in 1998 and again, after a long debate in both chambers, in the spring of 2004 by the king.",
    "Founded in 1902",
]


@pytest.mark.parametrize("run", STAMPS)
def test_stamps(run: str) -> None:
    """Short lines with a word for updating and a date or token."""
    assert is_stamp(run, run_shape(run))


@pytest.mark.parametrize("run", CONTENT)
def test_content(run: str) -> None:
    """Releases, appointments, prices, sentences about dates, and lines without a date are content."""
    assert not is_stamp(run, run_shape(run))
