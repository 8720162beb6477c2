"""`webstrata capture`, and its file, which two verifiers and two other tools accept."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.capture.capturing import certificate, verdicts
from tests.cli.conftest import Call, CommandResult, LocalServer, started
from webstrata import verifier
from webstrata.archive.wacz.writer import CERTIFICATE

WORDS = "the words of a page that stay as they are"


@pytest.fixture
def site(server: LocalServer) -> LocalServer:
    """A home page, three other pages, a style sheet, and a broken link."""
    anchors = "".join(f'<p><a href="/{name}">to {name}</a>' for name in ("a", "b", "c", "missing"))
    head = '<title>page</title><link rel="stylesheet" href="/s.css">'
    server.pages["/"] = ("text/html", f"{head}<main><h1>Home</h1>{anchors}</main>".encode())
    for name in ("a", "b", "c"):
        server.pages[f"/{name}"] = ("text/html", f"{head}<main><h1>{name}</h1><p>{WORDS}</p></main>".encode())
    server.pages["/s.css"] = ("text/css", b"p { color: red }")
    return server


def captured(call: Call, home: Path, site: LocalServer, *words: str) -> tuple[CommandResult, dict[str, Any]]:
    result = call("--home", home, "capture", site.url(), "--delay", "0.01s", "--json", *words, **site.settings)
    (one,) = result.json["captures"]
    return result, one


def test_capture_and_verify(home: Path, site: LocalServer, call: Call, peer: Callable[[str], str]) -> None:
    """The summary agrees with the certificate; both verifiers and the tool `wacz` accept the file."""
    result, one = captured(call, home, site, "--sharp")
    assert result.code == 0, result.err
    assert one["counts"] == verdicts(sharp=4, absent=1)
    assert one["requisites"] == {"captured": 1, "failed": 0, "not_asked_for": 0}
    assert one["stopped"] is None
    file = Path(one["file"])
    assert file == home / "captures" / f"{one['id']}.wacz"
    assert call("certificate", "verify", file, "--key", one["key"], "--json").json["sharp"] == 4
    second = Path(verifier.__file__).parent / "verify_capture.py"
    assert subprocess.run([sys.executable, second, file], capture_output=True, check=False).returncode == 0
    validated = subprocess.run([peer("wacz"), "validate", "-f", file], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stdout + validated.stderr
    assert (home / "keys").stat().st_mode & 0o777 == 0o700
    assert call("--home", home, "check").code == 0


def test_one_altered_byte_is_detected(home: Path, site: LocalServer, call: Call) -> None:
    """Both verifiers detect an altered byte of a page, of the certificate and of the index."""
    _, one = captured(call, home, site, "--sharp")
    whole = Path(one["file"]).read_bytes()
    second = Path(verifier.__file__).parent / "verify_capture.py"
    offsets = [whole.index(b"archive/data.warc.gz") + 3000, whole.index(CERTIFICATE.encode()) + 900, len(whole) // 2]
    for offset in offsets:
        other = home / "altered.wacz"
        other.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        assert call("certificate", "verify", other).code != 0, offset
        assert subprocess.run([sys.executable, second, other], capture_output=True, check=False).returncode != 0, offset


def test_text_output(home: Path, site: LocalServer, call: Call) -> None:
    """The text has the number of sharp pages, reasons for the other pages, and a hint about single passes."""
    result = call("--home", home, "capture", site.url(), "--delay", "0.01s", **site.settings)
    assert result.code == 0
    assert "1 of 5 pages sharp by visible text and links as of" in result.text
    assert "raw bytes 1, useful content 1" in result.text
    assert "blurred" in result.text
    assert "it was not downloaded" in result.text
    assert "--sharp" in result.text
    assert "status 404" in result.text
    assert "signed by sha256:" in result.text
    assert "visits " in result.err, "one line for each download"


def test_a_picture_a_list_and_weights(home: Path, site: LocalServer, call: Call, tmp_path: Path) -> None:
    """The chart is drawn; pages and weights come from files, or from stdin with -."""
    chart, out, weights = tmp_path / "chart.svg", tmp_path / "my.wacz", tmp_path / "weights"
    weights.write_text(f"# what matters\n{site.url('/a')}\t3\n*/c\t0.5\n")
    result = call(
        *("--home", home, "capture", site.url(), "--sharp", "--delay", "0.01s", "--seeds", "-", "--quiet", "--json"),
        *("--weights", weights, "--picture", chart, "--out", out, "--no-requisites"),
        stdin=f"{site.url('/a')}\n{site.url('/c')}\nnot a url\n".encode(),
        **site.settings,
    )
    (one,) = result.json["captures"]
    assert one["counts"]["sharp"] == 2
    assert one["file"] == str(out)
    assert one["requisites"] == {"captured": 0, "failed": 0, "not_asked_for": 1}
    assert "line 3" in result.err
    assert b"from the instant" in chart.read_bytes()
    shown = certificate(out)
    assert sorted(page["weight"] for page in shown["pages"]) == ["0.5", "3"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "name the sites"),
        (("http://a.example/", "--resume", "x"), "name the sites"),
        (("http://a.example/", "--out", "x.zip"), "ends in .wacz"),
        (("http://a.example/", "http://b.example/", "--out", "x.wacz"), "one site"),
        (("http://a.example/", "--tau", "1.5"), "above 0 and below 1"),
        (("http://a.example/", "--max-time", "soon"), "not a duration"),
        (("http://a.example/", "--sitemap", "--seeds", "-"), "Choose one"),
        (("http://a.example/", "--weights", "/nowhere"), "cannot read"),
        (("http://a.example/", "--repair", "1"), "Add --sharp"),
        (("http://a.example/", "--picture", "x.txt"), "picture format"),
        (("http://a.example/", "--out", "/nowhere/x.wacz"), "no folder"),
        (("http://a.example/", "--set", "capture.layer=soup"), "capture.layer"),
        (("ftp://a.example/",), "ftp"),
        (("--resume", "never"), "no capture"),
    ],
)
def test_bad_options(words: tuple[str, ...], what: str, home: Path, call: Call) -> None:
    """Invalid options give one sentence and exit code 2; no request is sent."""
    result = call("--home", home, "capture", *words)
    assert (result.code, result.out) == (2, b"")
    assert what in result.err
    assert "Traceback" not in result.err


def test_a_site_that_does_not_respond(home: Path, call: Call) -> None:
    """A site without responses gives a certificate without sharp pages, and exit code 1."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
    settings = {"WEBSTRATA_FETCH_ALLOW_PRIVATE": f"127.0.0.1/32:{port}", "WEBSTRATA_CAPTURE_PATIENCE": "0s"}
    result = call("--home", home, "capture", f"http://127.0.0.1:{port}/", "--json", "-q", **settings)
    assert result.code == 1
    assert result.json["captures"][0]["counts"] == verdicts(unreachable=1)


def test_one_site_of_two_fails(home: Path, site: LocalServer, call: Call) -> None:
    """If one of two sites fails, the other is captured and the exit code is 1."""
    words = ("--home", home, "capture", site.url("/a"), site.url("/nothing/"), "--sharp", "--sitemap", "-q", "--json")
    listed = (
        f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{site.url('/a')}</loc></url></urlset>"
    )
    site.pages["/sitemap.xml"] = ("application/xml", listed.encode())
    result = call(*words, **site.settings)
    assert result.code == 1
    assert "no page below" in result.err
    (one,) = result.json["captures"]
    assert one["counts"] == verdicts(sharp=1)


def test_interrupt_and_resume(home: Path, site: LocalServer, call: Call) -> None:
    """An interrupted capture has a valid certificate; --resume completes it."""
    words = ("--home", home, "capture", site.url(), "--sharp", "--delay", "1s", "--json")
    with started(*words, **{**site.settings, "WEBSTRATA_POLITE_DELAY": "1s"}) as process:
        assert process.stderr is not None
        while b"visits" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=100)
    result = CommandResult(process.returncode, out, "")
    (one,) = result.json["captures"]
    assert one["stopped"] == "it was interrupted"
    assert call("certificate", "verify", one["file"]).code == 0
    again = call("--home", home, "capture", "--resume", one["id"], "--delay", "0.01s", "--json", **site.settings)
    assert again.json["captures"][0]["counts"] == verdicts(sharp=4, absent=1)
    assert again.json["captures"][0]["file"] == one["file"]


@pytest.fixture
def replay(tmp_path: Path, peer: Callable[[str], str]) -> Iterator[Callable[[Path, str], bytes]]:
    """Replays a URL of a WACZ file with pywb."""
    servers: list[subprocess.Popen[bytes]] = []

    def get(file: Path, url: str) -> bytes:
        folder = tmp_path / "pywb"
        folder.mkdir()
        manager = peer("wb-manager")
        for words in (("init", "all"), ("add", "--unpack-wacz", "all", str(file))):
            done = subprocess.run([manager, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"]
        servers.append(subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        deadline = time.monotonic() + 90
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/all/id_/{url}", timeout=20) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError:
                raise
            except OSError:
                assert time.monotonic() < deadline, "pywb does not answer"
                time.sleep(0.1)  # another process: there is no clock to hand it

    yield get
    for server in servers:
        server.terminate()
        server.wait(20)


def test_pywb_replays_a_capture(
    home: Path, site: LocalServer, call: Call, replay: Callable[[Path, str], bytes]
) -> None:
    """pywb opens the WACZ file and replays a page whose second record is a revisit record."""
    _, one = captured(call, home, site, "--sharp")
    assert replay(Path(one["file"]), site.url("/a")) == site.pages["/a"][1]
