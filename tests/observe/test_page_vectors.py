"""Fingerprints against the frozen vectors and against a reference implementation of the specification."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.observe.fingerprint_reference import Page
from webstrata.observe.page import VERSION, observe_typed

FOLDER = Path(__file__).parent.parent / "data" / "fingerprint"
CASES = json.loads((FOLDER / "vectors.json").read_text("utf-8"))
FROZEN = {
    2: "181a205df311518ac21629490c970f3d51d8909340af5cb38b69e58816ab5197",
    3: "06b1433c1f4d1685a9b7581691a1ba08bf0f7f6bdd55a7ddcd3e0646c96470df",
}
"""SHA-256 of the vectors by version of the rules. If the vectors change, add a version; never change a line."""


def document(case: dict[str, Any]) -> str:
    return str(case["html"]) if "html" in case else (FOLDER / case["file"]).read_bytes().decode("utf-8")


def values(html: str) -> tuple[list[str], str | None, list[list[str]]]:
    content = observe_typed(html.encode(), "text/html", "utf-8", "https://a.test/")
    computed, texts = content.fingerprint, content.part_texts
    assert computed.parts is not None
    assert texts is not None
    simhash = None if computed.simhash is None else f"{computed.simhash:016x}"
    return list(computed.parts), simhash, [text.split("\n") if text else [] for text in texts]


def test_vectors_are_frozen() -> None:
    """The vectors of a version are those that were published with it."""
    assert hashlib.sha256((FOLDER / "vectors.json").read_bytes()).hexdigest() == FROZEN[VERSION]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vector(case: dict[str, Any]) -> None:
    """Parts, digests and simhash of the document equal the published values."""
    title = [case["title"]] if case["title"] else []
    expected = [title, case["header"], case["body"], case["side"], case["footer"]]
    assert values(document(case)) == (case["parts"], case["simhash"], expected)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reference(case: dict[str, Any]) -> None:
    """The reference implementation gives the published values."""
    page = Page(document(case))
    assert (page.digests(), page.simhash(), page.links) == (case["parts"], case["simhash"], case["main_links"])


TAGS = ["p", "div", "section", "nav", "main", "article", "header", "footer", "a href=x", "a", "b", "td", "table", "br",
        "img", "script", "noscript", "li", "title", "form", "svg", "textarea", "template", "body", "aside",
        "figcaption", "div class=comments", "div id=x-nav", "article class=reply", "section role=search"]  # fmt: skip
PIECES = st.sampled_from(
    [f"<{tag}>" for tag in TAGS]
    + [f"</{tag.split()[0]}>" for tag in TAGS]
    + [
        "word ",
        " ",
        "two words",
        "\xa0",
        "e\u0301",
        "<!-- c -->",
        "<?php x>",
        "&lt;",
        "\0",
        "x" * 60,
        "y" * 90,
        "z" * 300,
        "\u2003",
        "\x1f",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_reference_on_random_markup(html: str) -> None:
    """For random markup both implementations give the same values."""
    page = Page(html)
    digests, simhash, texts = values(html)
    assert (digests, simhash) == (page.digests(), page.simhash())
    assert texts[1:] == [page.header, page.body, page.side, page.footer]
