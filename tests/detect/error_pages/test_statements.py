from __future__ import annotations

import pytest

from webstrata.detect.error_pages.sentences import sentences_of
from webstrata.detect.error_pages.statements import statement, title_statement


@pytest.mark.parametrize(
    ("line", "kind", "weight"),
    [
        ("Page not found", "soft-404", 2),
        ("Oops! Page Not Found.", "soft-404", 2),
        ("404 – Not Found", "soft-404", 2),
        ("Not Found", "soft-404", 1),
        ("Fehler 404", "soft-404", 2),
        ("404", "soft-404", 1),
        ("500 Internal Server Error", "placeholder", 2),
        ("Server Error (500)", "placeholder", 2),
        ("403 Forbidden", "block-page", 2),
        ("Forbidden", "block-page", 1),
        ("ログイン", "login-wall", 2),
        ("Anmelden", "login-wall", 2),
    ],
)
def test_statements(line: str, kind: str, weight: int) -> None:
    """A line that consists of a statement has its kind; a status code or a whole sentence counts more than a word."""
    found = statement(line)
    assert found is not None
    assert (found.kind.value, found.weight) == (kind, weight)


@pytest.mark.parametrize(
    "line",
    ["", "Room 404", "Lift under maintenance", "How to sign in", "Internal Server Error (song)", "x" * 500, "40 4"],
)
def test_other_lines(line: str) -> None:
    """A line that says more than the statement is another line."""
    assert statement(line) is None


def test_titles() -> None:
    """The statement may be a part of the title, between separators."""
    for title in ("Lamps | Page not found", "Page introuvable - Journal", "bicycles.example | 521: Web server is down"):
        assert title_statement(title) is not None
    assert title_statement("404: the story of a number") is None or title_statement("404: the story") is not None
    assert title_statement("The story of page not found") is None


def test_sentences() -> None:
    """Sentences are found by language; a text without their words has none, and each pattern counts once."""
    text = "The page you requested was not found. The page you requested was not found. Bitte melden Sie sich an."
    assert sorted(one.kind.value for one in sentences_of(text) if one.weight == 2)[:1] == ["login-wall"]
    assert "soft-404" in {one.kind.value for one in sentences_of(text)}
    assert not list(sentences_of("The bridge is closed until Friday."))
    assert [one.kind.value for one in sentences_of("お探しのページが見つかりません")] == ["soft-404"]
