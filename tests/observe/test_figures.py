"""Figures: which are watched, which are trivial, which are times, and what number a run holds."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.columns import RunFlag
from webstrata.observe.figures import examined, figures_of, is_watched

WATCHED = """
    Price: 99 EUR
    99,00 €
    $1,299.00
    USD 12
    CHF 12.50
    12,- Kč
    120 zł
    1 USD = 0.92 EUR
    Only 3 left in stock
    3 left
    3 left · 120 people viewed this today
    Nur noch 3 verfügbar
    Verkaufspreis 45
    Lagerbestand: 12
    Plus que 3 en stock
    Quedan 3 unidades
    Prezzo 12
    Preço 12
    Voorraad 5
    Cena 12
    Pris 12
    Hinta 12
    Zbývá 5 kusů
    fiyat 12 TL
    Остаток: 5
    残り3点
    价格 99 元
    재고 5
    السعر 12
    2 : 1
    2–1
    2:1
    Bayern 2 - 1 Dortmund
    21.5 °C
    CO2 421.3 ppm
    25 %
    Water level 345 cm
    5 GB free
    Confirmed cases: 1,234
    COVID-19 deaths 123
    Votes: 123
    In stock: 5 (updated 12:03:01)
"""
TRIVIAL = """
    1,234 views
    1.2K views
    1,200,345 visits so far
    5423 visitors online
    You are visitor number 12.
    Downloads: 1234
    Hits: 123456789
    comments (12)
    likes 45
    3 shares
    View on GitHub (★ 1,022)
    22 stars
    users online: 5
    Members: 123, Guests: 45, Online: 12
    Besucher: 12345
    閲覧数 123
    123 次浏览
    page generated in 0.12 s
    load time 35 ms
    Page rendered in 0.12 seconds with 34 queries, 12 MB
    Seite generiert in 0,12 Sekunden
    3 hours ago
    Posted 2 days ago by Ann
    1 hour and 5 minutes ago
    5 days left
    in 3 days
    vor 3 Stunden
    il y a 5 minutes
    hace 2 días
    3 часа назад
    5分前
"""
TIMES = """
    It is now Tuesday, 03 March 2026 10:12:13
    12:30
    12 March 2026
    5. März 2026, 10:00 Uhr
    2026年3月5日
    Last updated 2026-03-01 10:00
    Last modified: Tue, 3 Mar 2026 10:12:13 GMT
    © 2026
    Session 9f00e0c1d2a3b4c5
    Build 2026-03-01T10:12:13Z
"""
PLAIN = """
    Widgets 34
    It was built in 1902 and renewed in 1988.
    Room 12
    View 3 more
    ★ 4.5
"""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


@pytest.mark.parametrize(
    ("flags", "runs"), [(RunFlag.WATCHED, WATCHED), (RunFlag.TRIVIAL, TRIVIAL), (RunFlag.TIMES, TIMES), (0, PLAIN)]
)
def test_flags(flags: int, runs: str) -> None:
    """Each run is of one kind, in any of the languages."""
    assert [run for run in _lines(runs) if examined(run).flags != flags] == []
    assert [is_watched(run) for run in _lines(runs)] == [flags == RunFlag.WATCHED] * len(_lines(runs))


@pytest.mark.parametrize(
    ("runs", "title", "watched"),
    [
        (["Price", "99"], "", [False, True]),
        (["Article", "Price", "Lamp", "99", "Chair", "120"], "", [False, False, False, True, False, True]),
        (["12", "in stock"], "", [True, True]),
        (["Price", "99", "Views", "1234"], "", [False, True, False, False]),
        (["Widgets 34", "1,234 views"], "Stock of the warehouse", [True, False]),
        (["Definitions", "112298", "9"], "", [False, True, True]),
        (["1234", "views"], "", [False, False]),
        (["A long sentence before it is no label at all", "12"], "", [False, False]),
        (["Sold out"], "", [True]),
        (["All of them were sold out within a day, as the papers reported at that time."], "", [False]),
    ],
)
def test_labels(runs: list[str], title: str, watched: list[bool]) -> None:
    """A number takes its meaning from the label beside it, the heading of its column and the title of the page."""
    assert [bool(one.flags & RunFlag.WATCHED) for one in figures_of(runs, title)] == watched


@pytest.mark.parametrize(
    ("run", "figure"),
    [
        ("Price: 99 EUR", 99),
        ("1.234", 1234),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1'234", 1234),
        ("1 234 567 vues", 1234567),
        ("0,123", 0.123),
        ("4.99", 4.99),
        ("-5", -5),
        ("−3,5 °C", -3.5),
        ("2.5K", 2500),
        ("1,234 views", 1234),
        ("5 views on 3 March 2026", 5),
        ("COVID-19 cases: 7", 7),
    ],
)
def test_figure(run: str, figure: float) -> None:
    """The only number of a run is read with decimal point or comma and thousands separators."""
    assert examined(run).figure == figure


@pytest.mark.parametrize("run", ["", "no number", "5 of 10", "1.2.3", "12:30", "3 hours ago", "9f00e0c1d2a3b4c5"])
def test_no_figure(run: str) -> None:
    """Runs with several numbers, times and tokens have no figure."""
    assert isnan(examined(run).figure)


@given(
    st.lists(st.text(alphabet="0123456789 .,:-/'€%apm前 views ago in left", max_size=60), max_size=6),
    st.text(max_size=20),
)
def test_any_text_is_examined(runs: list[str], title: str) -> None:
    """Any runs are examined, one by one, and a run without digits has no figure."""
    found = figures_of(runs, title)
    assert len(found) == len(runs)
    assert all(
        isnan(one.figure) for run, one in zip(runs, found, strict=True) if not any(c in "0123456789" for c in run)
    )


@pytest.mark.parametrize(
    "run", ["1 " * 100_000, "1." * 100_000, "1 s " * 50_000, "a" * 200_000 + "1", "1 views " * 30_000]
)
def test_long_runs_take_little_time(run: str) -> None:
    """Runs made to be slow are examined within the time limit of the test."""
    assert len(figures_of([run] * 3)) == 3
