"""`webstrata diff` for readers: marked words, rows of tables, menus apart from the main content, entries of feeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, on_a_terminal
from tests.cli.history.conftest import VisitVersions

HTML = "text/html; charset=utf-8"
STORY = "<p>The same story as ever, told at length for the sake of the main content of this page.</p>" * 8


def _lines(call: Call, home: Path, url: str, *options: str) -> list[str]:
    return call("--home", home, "diff", url, *options).text.splitlines()


def _price(price: str) -> str:
    return f"<title>Shop</title><main>{STORY}<p>The lamp costs {price} EUR today.</p></main>"


def test_words_on_a_terminal(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """On a terminal the old line is red and the new one green, and the changed words are inverse."""
    url = visit_versions(HTML, _price("99"), _price("4.99"))

    shown = on_a_terminal("--home", home, "diff", url)

    red, green, inverse, end = "\x1b[31m", "\x1b[32m", "\x1b[7m", "\x1b[0m"
    assert f"{red}-{end}{red}The lamp costs {end}{red}{inverse}99{end}{red} EUR today.{end}" in shown
    assert f"{green}+{end}{green}The lamp costs {end}{green}{inverse}4.99{end}{green} EUR today.{end}" in shown
    assert "\x1b" not in on_a_terminal("--home", home, "diff", url, NO_COLOR="1")


def test_words_in_a_pipe(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A pipe gets a unified diff; with --words the changed words stand in brackets in one line."""
    url = visit_versions(HTML, _price("99"), _price("4.99"))

    unified, words = _lines(call, home, url), _lines(call, home, url, "--words")

    assert unified[-2:] == ["-The lamp costs 99 EUR today.", "+The lamp costs 4.99 EUR today."]
    assert words[-1] == "The lamp costs [-99-]{+4.99+} EUR today."
    assert "\x1b[31m[-99-]" in on_a_terminal("--home", home, "diff", url, "--words")


@pytest.mark.parametrize("options", [(), ("--words",), ("--since", "1d"), ("--since", "1d", "--words")])
def test_hostile_words(options: tuple[str, ...], home: Path, visit_versions: VisitVersions) -> None:
    """Control sequences inside marked words do not reach the terminal."""
    page = "<title>t</title><main><p>some words \x1b[2J\x9b5m{}\x1b]0;owned\x07 and \u202emore words</main>"
    url = visit_versions(HTML, page.format("one"), page.format("two"))

    shown = on_a_terminal("--home", home, "diff", url, *options)

    assert "two" in shown
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    assert not set(shown) & set("\x07\x9b\u202e")


TABLE = (
    "<title>Rates</title><main>{story}<table><tr><th>Name</th><th>Rate</th><th>Note</th></tr>"
    "<tr><td>Alpha</td><td>1.5</td><td></td></tr><tr><td>Beta</td><td>{rate}</td><td>of <b>last</b> year</td></tr>"
    "</table></main>"
)


def test_rows_of_tables(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """The cells of a row of a table stand in one line, also if some are empty."""
    url = visit_versions(HTML, TABLE.format(story=STORY, rate="2.5"), TABLE.format(story=STORY, rate="2.75"))

    lines = _lines(call, home, url)

    assert " Name | Rate | Note" in lines
    assert " Alpha | 1.5 | " in lines
    assert lines[-2:] == ["-Beta | 2.5 | of last year", "+Beta | 2.75 | of last year"]


def test_menus_stand_apart(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """What differs in menus and footers follows the main content, and has its own field in the JSON document."""
    page = (
        "<title>t</title><header><nav><a href=/a>Home</a> <a href=/b>{menu}</a></nav></header>"
        "<main>{story}<p>The rate is {rate} per cent.</p></main><footer><p>Copyright {menu}</p></footer>"
    )
    versions = [page.format(story=STORY, rate=rate, menu=menu) for rate, menu in ((1, "News"), (2, "Events"))]
    url = visit_versions(HTML, *versions)

    lines = _lines(call, home, url)
    document = call("--home", home, "diff", url, "--json").json
    html = call("--home", home, "diff", url, "--html").text

    start = next(index for index, line in enumerate(lines) if line.endswith("(outside the main content)"))
    assert "+The rate is 2 per cent." in lines[:start]
    assert any("Events" in line for line in lines[start:])
    assert not any("Events" in line for line in lines[:start] + document["diff"])
    assert any("Events" in line for line in document["outside"])
    assert html.index("The rate is") < html.index("<details>") < html.index("Events")


def test_products(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """What a page states about products to programs is shown as values, before and after."""
    data = '{{"@type": "Product", "name": "Lamp", "offers": {{"price": "{}", "priceCurrency": "EUR"}}}}'
    page = "<title>t</title><script type='application/ld+json'>{}</script><main>{}</main>"
    url = visit_versions(HTML, *(page.format(data.format(price), STORY) for price in ("99.00", "4.99")))

    lines = _lines(call, home, url)
    changed = call("--home", home, "diff", url, "--json").json["attributes"]

    assert lines == ["@@ attributes: 1 changed @@", " product price: 99.00 → 4.99"]
    assert changed == [{"name": "product price", "before": "99.00", "after": "4.99"}]
    assert "<h3>Attributes</h3>" in call("--home", home, "diff", url, "--html").text


FEED = """<rss version="2.0"><channel><title>News</title>{items}</channel></rss>"""
ITEM = """<item><guid isPermaLink="false">{0}</guid><title>{1}</title><link>http://a.test/{0}</link>
<description>&lt;p&gt;{2}&lt;/p&gt;</description></item>"""


def test_feeds(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A feed is shown entry by entry: new, changed with the words that differ, removed; not as lines of XML."""
    old = [("3", "Third", "x"), ("2", "Second story", "the rate is 5 per cent"), ("1", "First", "x")]
    new = [("4", "Fourth &amp; last", "x"), ("2", "Second story", "the rate is 6 per cent"), ("1", "First", "x")]
    versions = [FEED.format(items="".join(ITEM.format(*item) for item in items)) for items in (old, new)]
    url = visit_versions("application/rss+xml", *versions)

    document = call("--home", home, "diff", url, "--json").json
    html = call("--home", home, "diff", url, "--html").text

    assert _lines(call, home, url) == [
        "@@ feed: 1 new entry, 1 changed, 1 removed @@",
        "+Fourth & last <http://a.test/4>",
        " Second story <http://a.test/2>",
        "   content: the rate is 5 per cent → the rate is 6 per cent",
        "-Third <http://a.test/3>",
    ]
    assert _lines(call, home, url, "--words")[3] == "  content: the rate is [-5-]{+6+} per cent"
    assert [entry["title"] for entry in document["feed"]["added"]] == ["Fourth & last"]
    assert document["feed"]["changed"][0]["fields"] == [
        {"name": "content", "before": "the rate is 5 per cent", "after": "the rate is 6 per cent"}
    ]
    assert "the rate is <del>5</del> per cent" in html
    assert "&lt;item&gt;" not in html


def test_json_feeds(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A feed in JSON is shown entry by entry, too."""
    feed = '{{"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [{}]}}'
    item = '{{"id": "{0}", "title": "Number {0}", "url": "http://a.test/{0}", "content_html": "<p>{1} words</p>"}}'
    versions = [
        feed.format(item.format("1", "old")),
        feed.format(", ".join([item.format("2", "more"), item.format("1", "new")])),
    ]
    url = visit_versions("application/feed+json", *versions)

    assert _lines(call, home, url) == [
        "@@ feed: 1 new entry, 1 changed, 0 removed @@",
        "+Number 2 <http://a.test/2>",
        " Number 1 <http://a.test/1>",
        "   content: old words → new words",
    ]


def test_lines_are_limited(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """--lines limits the lines, and the last line says how many are left out."""
    url = visit_versions("text/plain", "a", "\n".join(f"line {number}" for number in range(100)))

    lines = _lines(call, home, url, "--lines", "10")

    assert len(lines) == 11
    assert lines[-1] == "… 94 more lines"  # 100 added lines, one removed, and three headings, without the first ten
