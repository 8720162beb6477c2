"""`webstrata capture --report` and `webstrata certificate report`: the page of a real capture, read in a browser."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.cli.conftest import Call, LocalServer, call_here
from tests.sharp.report.certified_site import certificate
from webstrata.fetch.handlers.browser import find_chromium

WORDS = "words of a page that stay as they are, long enough to be more than a shell for the scripts of a page " * 2


@pytest.fixture
def site(server: LocalServer) -> LocalServer:
    """A home page with hostile words, two other pages and a broken link."""
    links = "".join(f'<a href="{path}">to</a>' for path in ("/a", "/b", "/missing", '/x?"><script>alert(1)</script>'))
    page = f"<title>&lt;/title&gt;&lt;script&gt;</title>{links}<p>{WORDS}"
    server.pages["/"] = ("text/html", page.encode())
    for name in ("a", "b"):
        server.pages[f"/{name}"] = ("text/html", f"<title>{name}</title><p>{name} {WORDS}".encode())
    return server


def test_the_report_of_a_capture(home: Path, site: LocalServer, call: Call, tmp_path: Path) -> None:
    """The page names the sharp pages and the absent ones, has a chart, and is the same if it is made from the file."""
    first, second = tmp_path / "report.html", tmp_path / "again.html"
    words = ("--sharp", "--delay", "0.01s", "--json", "--report", first)
    result = call("--home", home, "capture", site.url(), *words, **site.settings)
    (one,) = result.json["captures"]
    html = first.read_text("utf-8")
    page = LexborHTMLParser(html)
    sharp = one["counts"]["sharp"]
    assert sharp >= 3
    assert page.css(".proof")[0].text().startswith(f"These {sharp} pages existed together")
    rows = [row.css("td")[1].text() for row in page.css(".list tbody tr")]
    assert all(any(entry["url"] in row and entry["why"] in row for row in rows) for entry in one["verdicts"])
    assert "/missing" in page.css("figure svg")[0].text()
    assert len(page.css("script")) == 1
    again = call("certificate", "report", one["file"], "--out", second, "--json").json
    assert again == {"file": one["file"], "report": str(second), "bytes": len(html.encode())}
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--report", "page.pdf", "http://a.test/"), "End its name with .html"),
        (("--report", "/nowhere/page.html", "http://a.test/"), "there is no folder"),
        (("--report", "page.html", "http://a.test/", "http://b.test/"), "--report is for one site"),
    ],
)
def test_bad_options(words: tuple[str, ...], what: str, home: Path, call: Call) -> None:
    """A report that cannot be written is refused before the capture begins."""
    result = call("--home", home, "capture", *words)
    assert result.code == 2
    assert what in result.err


def _package(folder: Path, document: object, digest: object = None) -> Path:
    file = folder / "made.wacz"
    with ZipFile(file, "w") as package:
        if document is not None:
            package.writestr("proof/certificate.json", document if isinstance(document, bytes) else _json(document))
        if digest is not None:
            package.writestr("datapackage-digest.json", _json(digest))
    return file


def _json(document: Any) -> bytes:
    return msgspec.json.encode(document)


@pytest.mark.parametrize(
    ("document", "what"),
    [
        (None, "contains no certificate"),
        (b"nothing", "cannot be read as JSON"),
        (b"[1]", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        ({"type": "webstrata/capture", "version": 1}, "another type or version"),
        ({"type": "webstrata/capture", "version": 2}, "altered or is damaged"),
    ],
)
def test_packages_without_a_certificate(document: object, what: str, tmp_path: Path) -> None:
    """A package whose certificate cannot be read gives one sentence, and no page."""
    out = tmp_path / "report.html"
    result = call_here("certificate", "report", _package(tmp_path, document), "--out", out)
    assert result.code != 0
    assert what in result.err
    assert not out.exists()


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium")
def test_a_browser_runs_no_hostile_script(tmp_path: Path) -> None:
    """In a browser the hostile values of a certificate are text, and the filter of the tables works."""
    document = certificate(title="<script>document.title='taken'</script>")
    document["pages"][0]["why"] = "<img src=x onerror=\"document.title='taken'\">"
    out = tmp_path / "report.html"
    assert call_here("certificate", "report", _package(tmp_path, document, {"signedData": {}}), "--out", out).code == 0
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom")
    shown = subprocess.run(
        [str(find_chromium()), *options, out.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    page = LexborHTMLParser(shown.stdout)
    assert page.css("title")[0].text() == "<script>document.title='taken'</script>"
    assert not page.css("img")
    assert "hidden" not in page.css(".filter")[0].attributes  # the page's own script ran
