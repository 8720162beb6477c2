"""Error pages with status 200 from a real server: `log` names what was served, and the real page is `new` later."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.detection.error_pages import DATA, LabelledPage, read_pages
from tests.cli.conftest import ALWAYS_DUE, Call, LocalServer

ROOT = Path(__file__).parents[3]
PAGE = b"<title>Timetable</title><main><h1>Timetable</h1>" + b"<p>The ferry leaves at nine, noon and five.</p>" * 9
SERVED = {
    # page of the set: kind and words of the detail
    "php-exception": ("placeholder", "PHP fatal error"),
    "flask-debug": ("placeholder", "Werkzeug debugger"),
    "datadome-device-check": ("block-page", "DataDome block"),
    "anubis-de": ("block-page", "Anubis challenge"),
    "same-url-login-tr": ("login-wall", "sign-in form in place of the page"),
    "soft-de": ("soft-404", "notice that the page does not exist"),
}


@pytest.fixture(scope="module")
def labelled() -> dict[str, LabelledPage]:
    return {page.page: page for page in read_pages(ROOT / DATA)}


def test_first_visits(home: Path, server: LocalServer, call: Call, labelled: dict[str, LabelledPage]) -> None:
    """At the first visit each is an error with kind and detail; no version exists until the real page is served."""
    crawl = ("--home", home, "crawl", "--quiet")
    for name in SERVED:
        server.pages[f"/{name}"] = (dict(labelled[name].headers)["content-type"], labelled[name].body)
        call("--home", home, "watch", server.url(f"/{name}"))
    assert call(*crawl, **server.settings, **ALWAYS_DUE).code == 0
    for name, (kind, words) in SERVED.items():
        (visit,) = call("--home", home, "log", server.url(f"/{name}"), "--json").json["visits"]
        assert (visit["outcome"], visit["failure"]["kind"]) == ("error", kind), name
        assert words in visit["failure"]["detail"], name
        assert words in " ".join(call("--home", home, "log", server.url(f"/{name}")).text.split()), name
        assert call("--home", home, "cat", server.url(f"/{name}")).code == 2, name

    for name in SERVED:
        server.pages[f"/{name}"] = ("text/html", PAGE)
    assert call(*crawl, **server.settings, **ALWAYS_DUE).code == 0
    for name in SERVED:
        visits = call("--home", home, "log", server.url(f"/{name}"), "--json").json["visits"]
        assert [visit["outcome"] for visit in visits] == ["new", "error"], name
        assert b"The ferry leaves" in call("--home", home, "cat", server.url(f"/{name}")).out, name
