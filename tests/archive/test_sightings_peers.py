"""Coherence of files that other programs wrote: wget, warcio, and packages in the form of Browsertrix."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from tests.archive.foreign_warc import record, response, revisit, sha1_base32, write_warc
from webstrata.archive.sightings import sightings
from webstrata.errors import ArchiveError
from webstrata.sharp.proof.collection import coherence

PAGES = 40
CHANGE_S = 0.04


class _ChangingSite(BaseHTTPRequestHandler):
    """Pages that change every 40 ms, pages that never change, in chunks of changing length, and an error."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        moment = time.time()
        is_fixed = self.path.startswith("/fixed")
        body = f"<p>{self.path} {0 if is_fixed else int(moment / CHANGE_S)}".encode()
        self.send_response(500 if self.path == "/error" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        cut = 1 + int(moment * 1000) % (len(body) - 1)
        for part in (body[:cut], body[cut:]):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a server on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _ChangingSite)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def wget(folder: Path, name: str, urls: list[str]) -> Path:
    """Crawl with wget, which writes dates of whole seconds, and payloads with their chunks."""
    if shutil.which("wget") is None:
        pytest.skip("wget is not installed on this machine")
    (folder / "urls").write_text("\n".join(urls))
    words = ["wget", "-q", "-i", "urls", "-O", "/dev/null", "--tries=1", f"--warc-file={name}"]
    subprocess.run(words, cwd=folder, check=False, timeout=60)  # it fails because of the error page
    return folder / f"{name}.warc.gz"


def test_a_quick_pass_of_wget_proves_nothing(tmp_path: Path, site: str) -> None:
    """Pages that change every 40 ms, all seen within seconds: which of them coexisted is not known."""
    file = wget(tmp_path, "one", [f"{site}/page{number}" for number in range(PAGES)])
    result = coherence(sightings(file))

    assert len(result.pages) == PAGES
    assert (result.proved, result.instant, result.is_single_pass, result.uncertainty_s) == (0, None, True, 1.0)


def test_two_passes_of_wget(tmp_path: Path, site: str) -> None:
    """Fixed pages are proved between the passes, although they came in other chunks; changing pages and errors not."""
    fixed, changing = [f"{site}/fixed{number}" for number in range(5)], [f"{site}/page{number}" for number in range(5)]
    urls = [*fixed, *changing, f"{site}/error"]
    first = wget(tmp_path, "one", urls)
    time.sleep(2.1)  # the dates are whole seconds, and a download takes a second at most
    result = coherence(sightings(first, wget(tmp_path, "two", urls)))

    assert {page.url for page in result.pages if page.standing == "proved"} == set(fixed)
    assert {page.url: page.standing for page in result.pages}[f"{site}/error"] == "error"
    assert {page.status for page in result.pages} == {200, 500}
    assert result.wrong_digests == ()


def test_capture_http_of_warcio(tmp_path: Path, site: str, peer: Callable[[str], str]) -> None:
    """warcio records the requests of a program, in versions 1.0 and 1.1 of the format."""
    program = (
        "import sys, time\n"
        "from warcio.capture_http import capture_http\n"
        "import requests\n"
        "for version in ('1.0', '1.1'):\n"
        "    with capture_http(f'{version}.warc.gz', warc_version=version):\n"
        "        for name in ('fixed', 'page', 'error'):\n"
        "            requests.get(f'{sys.argv[1]}/{name}', headers={'Accept-Encoding': 'identity'})\n"
    )
    subprocess.run([peer("python"), "-c", program, site], cwd=tmp_path, check=True, timeout=60)
    seen = list(sightings(tmp_path / "1.0.warc.gz", tmp_path / "1.1.warc.gz"))

    assert [(one.url.rpartition("/")[2], one.status) for one in seen] == 2 * [
        ("fixed", 200),
        ("page", 200),
        ("error", 500),
    ]
    assert len({one.content for one in seen if one.url.endswith("fixed")}) == 1
    assert {one.resolution_s for one in seen} == {1.0, 1e-6}
    assert not any(one.has_wrong_digest for one in seen)


WRITER = """
import json, sys
from io import BytesIO
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
version, captures = sys.argv[1], json.loads(sys.argv[2])
with open("a.warc.gz", "wb") as file:
    writer, known = WARCWriter(file, gzip=True, warc_version=version), {}
    for url, date, digest, body in captures:
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        options = {"http_headers": head, "warc_headers_dict": {"WARC-Date": date}}
        if body in known:
            record = writer.create_revisit_record(url, digest, *known[body], **options)
        else:
            record = writer.create_warc_record(url, "response", payload=BytesIO(body.encode()), **options)
            known[body] = url, date
        writer.write_record(record)
"""
"""A program that writes responses, and revisits for the bodies that were written before."""


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_revisits_by_warcio(tmp_path: Path, version: str, peer: Callable[[str], str]) -> None:
    """The revisits name their originals by URL and date."""
    fraction = ".250" if version == "1.1" else ""
    captures = [
        ("http://example.org/a", f"2026-09-01T10:00:00{fraction}Z", "same"),
        ("http://example.org/b", f"2026-09-01T10:00:05{fraction}Z", "first"),
        ("http://example.org/a", f"2026-09-01T11:00:00{fraction}Z", "same"),
        ("http://example.org/b", f"2026-09-01T11:00:05{fraction}Z", "second"),
    ]
    given = json.dumps([(url, date, sha1_base32(body.encode()), body) for url, date, body in captures])
    subprocess.run([peer("python"), "-c", WRITER, version, given], cwd=tmp_path, check=True, timeout=60)
    result = coherence(sightings(tmp_path / "a.warc.gz"))

    assert [page.standing for page in result.pages] == ["proved", "changed"]
    assert result.uncertainty_s == (0.001 if fraction else 1.0)
    (page, _) = result.pages
    assert page.window is not None
    assert page.window.evidence == "revisit"


def _browsertrix(path: Path, method: int = ZIP_STORED) -> Path:
    """A package as Browsertrix writes it: several WARC files, records about pages, dates of milliseconds."""
    pages = [f"https://example.org/{number}" for number in range(3)]
    folder = path.parent
    for crawl, minute in enumerate((0, 30)):
        records = []
        for number, url in enumerate(pages):
            body = f"<p>{crawl if number == 2 else 0}".encode()
            date = f"2026-09-01T10:{minute:02}:0{number}.{crawl + 1}23Z"
            digest = sha1_base32(body)
            if crawl and number == 1:
                original = {"WARC_Refers_To_Target_URI": url, "WARC_Refers_To_Date": "2026-09-01T10:00:01.123Z"}
                records.append(revisit(url, date, WARC_Payload_Digest=digest, **original))
            else:
                records.append(response(url, date, body, WARC_Payload_Digest=digest))
            for name in ("text", "pageinfo", "view"):
                info = f"{name} {crawl} {number}".encode()
                records.append(record("resource", f"urn:{name}:{url}", date, info, Content_Type="application/json"))
        write_warc(folder / f"rec-{crawl}.warc.gz", records)
    with ZipFile(path, "w") as package:
        for file in sorted(folder.glob("rec-*.warc.gz")):
            package.write(file, f"archive/{file.name}", method)
        package.writestr("pages/pages.jsonl", json.dumps({"format": "json-pages-1.0", "id": "pages"}) + "\n")
        package.writestr("indexes/index.cdxj", "")
        package.writestr("datapackage.json", json.dumps({"profile": "data-package", "wacz_version": "1.1.1"}))
    return path


def test_a_package_of_browsertrix(tmp_path: Path) -> None:
    """Records about pages are no pages; revisits are resolved across the files of the package."""
    result = coherence(sightings(_browsertrix(tmp_path / "crawl.wacz")))

    assert {page.url[-1]: page.standing for page in result.pages} == {"0": "proved", "1": "proved", "2": "changed"}
    assert result.uncertainty_s == 0.001


def test_a_deflated_package_is_refused(tmp_path: Path) -> None:
    """WARC files in it could be a decompression bomb, and no reader can seek in them."""
    path = _browsertrix(tmp_path / "crawl.wacz", ZIP_DEFLATED)

    with pytest.raises(ArchiveError, match="is refused"):
        list(sightings(path))
