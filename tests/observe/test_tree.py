from __future__ import annotations

import time

import pytest

from webstrata.observe.html.tree import parse
from webstrata.observe.page import observe

URL = "https://a.test/"

# Each would take minutes or gigabytes as a tree.
HOSTILE = {
    "100,000 deep": "<div>" * 100_000 + "word",
    "10^6 attributes": "<p " + " ".join(f"a{number}=1" for number in range(1_000_000)) + ">word",
    "attributes with quoted ends": "<p " + " ".join(f'a{number}=">"' for number in range(50_000)) + ">word",
    "reopened formatting": "".join(f"<p><b id={number}>" for number in range(20_000)) + "word",
    "adoption agency": "".join(f"<b id={number}><div>" for number in range(5_000)) + "</b>" * 5_000 + "word",
    "open comments": "word" + "<!--" * 500_000,
    "open tags": "word" + "<a " * 500_000,
    "open quotes": "word" + '<a href="' * 200_000,
    "open scripts": "word" + "<script>" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_read_in_bounded_time(name: str) -> None:
    """Pages built to be expensive are read within seconds, and their word is found."""
    started = time.process_time()
    seen = observe(HOSTILE[name].encode(), "text/html", URL)
    assert time.process_time() - started < 10
    assert "word" in (seen.text or "")


def test_nuls_are_no_trouble() -> None:
    """NUL bytes are dropped as the standard says."""
    assert observe(b"<p>a\0b" + b"\0" * 100_000, "text/html", URL).text == "ab"


@pytest.mark.parametrize(
    "html",
    [
        "<p>" * 9_000,
        "<ul>" + "<li>item" * 5_000 + "</ul>",
        "<img src='data:;base64," + "A" * 500_000 + "'>",
        "<code>x</code> <p>" * 3_000,
        "<p class='a' id='b'>" * 8_000,
    ],
)
def test_honest_large_pages_get_a_tree(html: str) -> None:
    """Size alone is not suspicious."""
    assert parse(html) is not None
