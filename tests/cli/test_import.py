"""The commands of `import`: their counts, their messages, and an import that is killed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.archive.foreign_warc import response, sha1_base32, write_warc
from tests.cli.conftest import LocalServer, call_here, environment, on_a_terminal

DATA = Path(__file__).parent.parent / "data"
CDX = DATA / "cdx" / "dupes.cdx"
LINE = "org,a)/{n} 20140103030321 http://a.org/{n} text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 1 2 a.warc\n"
WARCIO = """
import io, sys
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
with open(sys.argv[1], "wb") as file:
    writer = WARCWriter(file, gzip=True)
    writer.write_record(writer.create_warcinfo_record("w.warc.gz", {"isPartOf": "collection"}))
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    first = writer.create_warc_record(
        "http://a.org/", "response", payload=io.BytesIO(b"<p>text"), http_headers=head,
        warc_headers_dict={"WARC-Date": "2020-01-01T00:00:00Z"},
    )
    writer.write_record(first)
    digest = first.rec_headers.get_header("WARC-Payload-Digest")
    writer.write_record(writer.create_revisit_record(
        "http://a.org/", digest, "http://a.org/", "2020-01-01T00:00:00Z", http_headers=head,
        warc_headers_dict={"WARC-Date": "2020-02-01T00:00:00Z"},
    ))
    writer.write_record(writer.create_warc_record(
        "http://a.org/r", "resource", payload=io.BytesIO(b"text"), warc_content_type="text/plain"
    ))
"""
KILLED = """
import os, signal, sys
from webstrata.history import index_file
from webstrata.remember.store import SqlCopies
index_file.BATCH_ROWS, moment = 10, sys.argv[1]
stored, calls = vars(SqlCopies)["add"], 0
async def killed(self, found, progress, now):
    global calls
    calls += 1
    if (moment, calls) == ("before", 3):
        os.kill(os.getpid(), signal.SIGKILL)
    result = await stored.__get__(self, SqlCopies)(found, progress, now)
    if (moment, calls) == ("after", 3):
        os.kill(os.getpid(), signal.SIGKILL)
    return result
SqlCopies.add = killed
sys.argv = ["webstrata", *sys.argv[2:]]
from webstrata.cli import main
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert call_here("--home", tmp_path / "home", "init").code == 0
    return tmp_path / "home"


def test_cdx(home: Path) -> None:
    """Counts, one document on stdout, and the first rows left out with their lines on stderr."""
    result = call_here("--home", home, "import", "cdx", CDX, "--json")
    assert result.code == 0
    assert (result.json["read"], result.json["kept"]) == (12, 11)
    assert result.json["skipped"] == {"error-status": 1}
    assert result.err == "dupes.cdx:4: error-status: 302\n"
    again = call_here("--home", home, "import", "cdx", CDX)
    assert "was imported before" in again.text
    assert "--restart" in again.text
    listed = call_here("--home", home, "import", "list", "--json").json["imports"]
    assert [(one["finished"], one["read"], one["kept"]) for one in listed] == [(True, 12, 11)]
    assert "finished" in call_here("--home", home, "import", "list").text


def test_warnings_are_limited(home: Path, tmp_path: Path) -> None:
    """The first twenty rows left out are listed, and the number of the others."""
    path = tmp_path / "a.cdx"
    path.write_text("broken\n" * 50)
    result = call_here("--home", home, "import", "cdx", path)
    lines = result.err.splitlines()
    assert lines[0] == "a.cdx:1: malformed: 1 field, and the file has no legend"
    assert (len(lines), lines[-1]) == (21, "and 30 more rows left out")
    assert "50 rows read: 0 kept, 50 left out (50 malformed)" in result.text


def test_on_a_terminal(home: Path) -> None:
    """On a terminal a bar shows the share of the file and the rows; in a pipe there is none."""
    shown = on_a_terminal("--home", home, "import", "cdx", CDX)
    assert "importing" in shown
    assert "dupes.cdx:4: error-status: 302" in shown
    assert "importing" not in call_here("--home", home, "import", "cdx", CDX, "--restart").err


def test_other_kinds(home: Path, tmp_path: Path) -> None:
    """WARC files and folders, Parquet histories and lists of observations; several files are summed up."""
    folder = tmp_path / "warcs"
    (folder / "deep").mkdir(parents=True)
    write_warc(folder / "a.warc.gz", [response("http://a.org/", "2020-01-01T00:00:00Z", b"<p>text")])
    write_warc(folder / "deep" / "b.warc", [response("http://a.org/", "2020-01-02T00:00:00Z", b"<p>text")])
    found = call_here("--home", home, "import", "warc", folder, "--json").json
    assert (found["kept"], len(found["imports"])) == (2, 2)
    histories = DATA.parent.parent / "src" / "webstrata" / "lab" / "data" / "histories" / "wikipedia.parquet"
    words = ("import", "parquet", histories, "--url", "https://example.org/{page}", "--depth", "1", "--dry-run")
    assert call_here("--home", home, *words, "--json").json["kept"] > 1000
    gaps = tmp_path / "gaps.tsv"
    gaps.write_text("http://a.org/\t[[1, true]]\nhttp://b.org/\t[[1, true]]\n")
    words = ("import", "gaps", gaps, "--until", "2021-01-01", "--only", "http://a.org/", "--json")
    assert call_here("--home", home, *words).json["skipped"] == {"outside": 2}
    with sqlite3.connect(home / "webstrata.db") as database:
        assert database.execute("SELECT count(*) FROM copies").fetchone() == (4,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cdx", "missing.cdx"), "cannot read missing.cdx"),
        (("gaps", "missing.tsv"), "cannot read missing.tsv"),
        (("parquet", "missing.parquet"), "cannot be read as Parquet"),
        (("warc", "missing.warc"), "cannot read missing.warc"),
        (("warc", "."), "there is no .warc.gz"),
        (("cdx", CDX, "--only", "foo"), "names no pages"),
        (("gaps", CDX, "--until", "soon"), "not a time"),
    ],
)
def test_wrong_usage(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...], message: str
) -> None:
    """Files that cannot be read and options that say nothing are errors of use; nothing is stored."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    result = call_here("--home", home, "import", *words)
    assert (result.code, message in result.err) == (2, True)
    assert call_here("--home", home, "import", "list", "--json").json == {"imports": []}


def test_own_archive(home: Path, server: LocalServer, tmp_path: Path) -> None:
    """The WARC files and the WACZ export of a crawl give copies with the payload and the text of its visits."""
    pages = ("/a", "/b")
    for version in (b"one", b"two", b"two"):
        for path in pages:
            server.pages[path] = ("text/html", b"<title>t</title><p>Hello, %s at last. <a href='/x'>x</a>" % version)
        call_here("--home", home, "watch", *(server.url(path) for path in pages))
        environ: dict[str, Any] = dict(server.settings)
        assert call_here("--home", home, "crawl", *map(server.url, pages), **environ).code == 0
    package = tmp_path / "all.wacz"
    assert call_here("--home", home, "export", "wacz", package).code == 0
    with sqlite3.connect(home / "webstrata.db") as database:
        visited = set(database.execute("SELECT payload, text FROM visits").fetchall())
    for number, source in enumerate((home / "archive", package)):
        other = tmp_path / f"other{number}"
        assert call_here("--home", other, "init").code == 0
        found = call_here("--home", other, "import", "warc", source, "--only", server.url("/*"), "--json").json
        assert (found["kept"], found["skipped"]) == (6, {"error-status": 1})
        with sqlite3.connect(other / "webstrata.db") as database:
            rows = database.execute("SELECT digest, text, has_links FROM copies").fetchall()
            assert database.execute("SELECT count(*) FROM page_features").fetchone() == (2,)
        assert set(rows) == {(payload, text, True) for payload, text in visited}
        assert len(visited) == 2


def test_warc_of_warcio(home: Path, tmp_path: Path) -> None:
    """What warcio writes is read: responses, revisits, resources and the archive's name."""
    path = tmp_path / "w.warc.gz"
    subprocess.run([sys.executable, "-c", WARCIO, path], check=True, timeout=60)  # it leaves temporary files open
    assert call_here("--home", home, "import", "warc", path, "--json").json["kept"] == 3
    with sqlite3.connect(home / "webstrata.db") as database:
        rows = database.execute("SELECT digest, text FROM copies ORDER BY page_id, at LIMIT 2").fetchall()
        assert database.execute("SELECT name FROM archives").fetchall() == [("collection",)]
    assert rows[0] == rows[1] == (sha1_base32(b"<p>text"), rows[0][1])
    assert rows[0][1]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_import(home: Path, tmp_path: Path, moment: str) -> None:
    """`kill -9` before or after the transaction of a batch: the same command goes on, each copy is there once, and the
    counts are those of an import that was not killed."""
    path = tmp_path / "a.cdx"
    path.write_text("".join(LINE.format(n=n % 33) + "broken\n" * (n % 5 == 0) for n in range(60)))
    words = ["--home", str(home), "import", "cdx", str(path), "--json"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, moment, *words], capture_output=True, timeout=60, env=environment(), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    (stopped,) = call_here("--home", home, "import", "list", "--json").json["imports"]
    assert (stopped["finished"], stopped["read"]) == (False, 20 if moment == "before" else 30)
    result = call_here(*words)
    assert (result.json["read"], result.json["kept"]) == (72, 33)
    assert result.json["skipped"] == {"malformed": 12, "duplicate": 27}
    assert result.json["imports"][0]["resumed_rows"] == stopped["read"]
    with sqlite3.connect(home / "webstrata.db") as database:
        assert database.execute("SELECT count(*) FROM copies").fetchone() == (33,)
