"""`webstrata preview`: shows the content that would be compared, and stores nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, LocalServer

PAGE = b"<title>Rates</title><main><p class=ad>Buy now</p><p>The rate is 4.2.</p></main>"


def archive_of(home: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (home / "archive").rglob("*") if path.is_file()}


def test_archived_version(home: Path, server: LocalServer, call: Call) -> None:
    """The newest archived version is shown before and after the rules, without a request."""
    server.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", server.url())
    call("--home", home, "crawl", "--quiet", **server.settings)
    server.pages.clear()

    result = call("--home", home, "preview", server.url(), "--ignore", "css:.ad", "--json").json
    text = call("--home", home, "preview", server.url(), "--ignore", "css:.ad").text

    assert result["before"].splitlines()[-2:] == ["Buy now", "The rate is 4.2."]
    assert "Buy" not in result["after"]
    assert "The rate is 4.2." in result["after"]
    assert result["layers"][0] == "selected"
    assert (result["media_type"], result["rules"]) == ("text/html", {"ignore": ["css:.ad"]})
    assert "before the rules" in text
    assert "after the rules" in text
    assert call("--home", home, "rules", server.url(), "--json").json["rules"] == {}


def test_rules_that_hold(home: Path, server: LocalServer, call: Call) -> None:
    """Without rules on the command line the rules of the page apply; a rule that matches nothing is reported."""
    server.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", server.url(), "--select", "css:.ad", "--ignore", "css:#nowhere")
    call("--home", home, "crawl", "--quiet", **server.settings)

    result = call("--home", home, "preview", server.url(), "--json").json

    assert result["after"] == "Buy now"
    assert "css:#nowhere matched nothing" in result["note"]


def test_attributes(home: Path, server: LocalServer, call: Call) -> None:
    """The attributes that count are shown; options add kinds and remove them."""
    server.pages["/"] = (
        "text/html",
        b"<meta property=og:price:amount content='4,20 EUR'><img src=/i.png alt=Rate>" + PAGE,
    )
    call("--home", home, "watch", server.url())
    call("--home", home, "crawl", "--quiet", **server.settings)

    def shown(*options: str) -> list[tuple[str, str, str]]:
        found = call("--home", home, "preview", server.url(), *options, "--json").json["attributes"]
        return [(one["kind"], one["name"], one["value"]) for one in found]

    product = [("product", "price", "4.20"), ("product", "currency", "EUR")]
    image = [("image", "src:Rate", server.url("/i.png").replace("http:", "https:")), ("image", "alt:/i.png", "Rate")]
    assert shown() == product
    assert shown("--attributes", "image", "--ignore-attributes", "product") == image
    text = call("--home", home, "preview", server.url()).text
    assert "attributes that count (2 lines)\nproduct price: 4.20\nproduct currency: EUR" in text


def test_live_leaves_no_trace(home: Path, server: LocalServer, call: Call) -> None:
    """`--live` visits the page and stores nothing: no row in the log, no record in the archive, no page."""
    server.pages["/"] = ("text/html", PAGE)
    call("--home", home, "watch", server.url())
    call("--home", home, "crawl", "--quiet", **server.settings)
    before = archive_of(home), call("--home", home, "log", server.url(), "--json").json
    server.pages["/"] = ("text/html", PAGE.replace(b"4.2", b"5.1"))
    server.pages["/other"] = ("application/json", b'{"a": 1}')

    known = call("--home", home, "preview", server.url(), "--live", "--json", **server.settings)
    other = call(
        "--home", home, "preview", server.url("/other"), "--ignore", "jsonpath:$.a", "--json", **server.settings
    )

    assert "The rate is 5.1." in known.json["before"]
    assert (other.code, other.json["media_type"]) == (0, "application/json")
    assert (archive_of(home), call("--home", home, "log", server.url(), "--json").json) == before
    assert len(call("--home", home, "list", "--json").json["pages"]) == 1
    assert call("--home", home, "check").code == 0


def test_live_is_polite(home: Path, server: LocalServer, call: Call) -> None:
    """A preview obeys robots.txt; a failed visit is reported in a sentence."""
    server.pages["/robots.txt"] = ("text/plain", b"User-agent: *\nDisallow: /private")
    server.pages["/private"] = ("text/html", PAGE)

    result = call("--home", home, "preview", server.url("/private"), **server.settings)

    assert (result.code, result.text) == (2, "")
    assert "robots" in result.err
    gone = call("--home", home, "preview", server.url("/nowhere"), **server.settings)
    assert gone.code == 2
    assert "404" in gone.err
