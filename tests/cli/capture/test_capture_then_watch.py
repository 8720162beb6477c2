"""Pages of a capture are never in the way of watching: they become watched pages, and their links are followed."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import cast

import pytest

from tests.cli.conftest import Call, LocalServer

NAMES = [f"page{number}" for number in range(12)]
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>f</title><link>{0}</link>{1}</channel></rss>"""


class ValidatingServer(LocalServer):
    """A local server that responds with 304 to conditional requests for unchanged pages."""

    def __init__(self) -> None:
        super().__init__()
        server, plain = self, cast(type[BaseHTTPRequestHandler], self.server.RequestHandlerClass)

        class Handler(plain):  # type: ignore[valid-type,misc]
            def do_GET(self) -> None:  # noqa: N802 - the library's name
                tag = f'"{hash(server.pages.get(self.path))}"'
                if self.headers.get("If-None-Match") == tag:
                    self.send_response(304)
                    self.end_headers()
                else:
                    self.tag = tag
                    super().do_GET()

            def end_headers(self) -> None:
                if getattr(self, "tag", None):
                    self.send_header("ETag", self.tag)
                super().end_headers()

        self.server.RequestHandlerClass = Handler


@pytest.fixture
def site() -> Iterator[ValidatingServer]:
    """A site of twelve pages in a chain of links, with a sitemap that robots.txt names and a feed of all pages."""
    served = ValidatingServer()
    for name, following in zip(NAMES, [*NAMES[1:], "page0"], strict=True):
        body = f"<title>{name}</title><p>This is {name}. <a href='/{following}'>next</a>"
        served.pages[f"/{name}"] = ("text/html", body.encode())
    served.pages["/"] = ("text/html", b"<title>start</title><p>Start. <a href='/page0'>first</a>")
    served.pages["/robots.txt"] = ("text/plain", f"Sitemap: {served.url('/map.xml')}".encode())
    items = "".join(f"<item><title>{name}</title><link>{served.url('/' + name)}</link></item>" for name in NAMES)
    served.pages["/feed.xml"] = ("application/rss+xml", FEED.format(served.url(), items).encode())
    listed = "".join(f"<url><loc>{served.url('/' + name)}</loc></url>" for name in NAMES)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    served.pages["/map.xml"] = ("application/xml", f"<urlset xmlns='{space}'>{listed}</urlset>".encode())
    thread = Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


@pytest.fixture
def captured(home: Path, site: ValidatingServer, call: Call, tmp_path: Path) -> Path:
    """A home with a finished capture of the site."""
    done = call("--home", home, "capture", site.url(), "--out", tmp_path / "c.wacz", "--json", **site.settings)
    assert done.code == 0, done.err
    return home


def active(home: Path, call: Call) -> dict[str, dict[str, object]]:
    return {page["url"]: page for page in call("--home", home, "list", "--state", "active", "--json").json["pages"]}


def test_captured_pages_are_not_watched(captured: Path, site: ValidatingServer, call: Call) -> None:
    """They are in no listing or count of watched pages, never due, and their history stays available."""
    assert call("--home", captured, "list", "--json").json["pages"] == []
    status = call("--home", captured, "status", "--json").json
    assert (status["pages"], status["paused"], status["hosts"], status["due"]) == (0, 0, 0, 0)
    pages = call("--home", captured, "list", "--state", "captured", "--json").json["pages"]
    assert {page["url"] for page in pages} >= {site.url(f"/{name}") for name in NAMES}
    assert call("--home", captured, "log", site.url("/page3"), "--json").json["visits"]
    assert call("--home", captured, "crawl", "--json", **site.settings).json["visits"] == 0
    assert call("--home", captured, "check").code == 0


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_watch_a_captured_site(policy: str, captured: Path, site: ValidatingServer, call: Call) -> None:
    """`watch --site` after `capture` finds and visits as many pages as without the capture, in the first crawl."""
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy, **site.settings}
    call("--home", captured, "watch", "--site", site.url(), "--depth", 20, "--tag", "mine", "--weight", 2, **environ)
    result = call("--home", captured, "crawl", "--json", **environ)

    pages = active(captured, call)
    expected = {site.url(path) for path in ("/", "/map.xml", "/sitemap.xml", *(f"/{name}" for name in NAMES))}
    assert pages.keys() == expected
    assert result.json["visits"] == len(expected)
    assert all(pages[site.url(f"/{name}")]["tags"] == ["mine"] for name in NAMES)
    assert {pages[site.url(f"/{name}")]["weight"] for name in NAMES} == {2.0}
    assert call("--home", captured, "check").code == 0


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_watch_a_feed_of_captured_pages(policy: str, captured: Path, site: ValidatingServer, call: Call) -> None:
    """`watch FEED --entries` after `capture` watches all entries of the feed, and the crawl visits them."""
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy, **site.settings}
    call("--home", captured, "watch", site.url("/feed.xml"), "--entries", "--tag", "news")
    result = call("--home", captured, "crawl", "--json", **environ)

    pages = active(captured, call)
    assert pages.keys() == {site.url(path) for path in ("/feed.xml", *(f"/{name}" for name in NAMES))}
    assert result.json["visits"] == len(pages)
    assert all(page["tags"] == ["news"] for page in pages.values())


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_watch_a_captured_page(policy: str, captured: Path, site: ValidatingServer, call: Call) -> None:
    """`watch URL` makes a captured page a watched page that is due."""
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy, **site.settings}
    call("--home", captured, "watch", site.url("/page5"))
    assert call("--home", captured, "crawl", "--json", **environ).json["visits"] == 1
    assert active(captured, call).keys() == {site.url("/page5")}


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_watch_the_site_of_watched_pages(policy: str, home: Path, site: ValidatingServer, call: Call) -> None:
    """Pages that are watched on their own become pages of a site that is watched later, and keep what was set."""
    del site.pages["/robots.txt"]
    environ = {"WEBSTRATA_SCHEDULE_POLICY": policy, **site.settings}
    call("--home", home, "watch", site.url(), site.url("/page1"), "--tag", "old", "--weight", 3)
    call("--home", home, "watch", site.url("/page9"))
    call("--home", home, "crawl", **environ)
    call("--home", home, "unwatch", site.url("/page9"))

    call("--home", home, "watch", "--site", site.url(), "--depth", 20)
    call("--home", home, "crawl", **environ)
    call("--home", home, "crawl", site.url("/page1"), **environ)
    call("--home", home, "crawl", **environ)

    pages = active(home, call)
    assert {site.url(f"/page{number}") for number in range(9)} <= pages.keys()
    assert site.url("/page9") not in pages, "the user no longer watches it"
    assert (pages[site.url("/page1")]["weight"], pages[site.url("/page1")]["tags"]) == (3.0, ["old"])
    assert call("--home", home, "check").code == 0
