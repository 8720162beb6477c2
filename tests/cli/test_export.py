"""`webstrata export`: tools of the field take what it writes."""

from __future__ import annotations

import gzip
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Call, Demo
from webstrata.clock import digits14, parse_instant

Peer = Callable[[str], str]
PAGE = "http://llvm.test/"


def test_wacz(demo: Demo, tmp_path: Path, call: Call, peer: Peer) -> None:
    """The reference validator passes the WACZ of a whole home."""
    out = tmp_path / "all.wacz"

    told = call("--home", demo.home, "export", "wacz", out, "--json")

    assert told.json["bytes"] == out.stat().st_size
    assert told.json["captures"] >= demo.board["visits"]
    judged = subprocess.run([peer("wacz"), "validate", "-f", out], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_warc(demo: Demo, tmp_path: Path, call: Call, peer: Peer) -> None:
    """`warcio check` finds every digest of a selection right, and the selection holds only what was asked for."""
    out = tmp_path / "some.warc.gz"

    told = call("--home", demo.home, "export", "warc", out, "--url", PAGE, "--match", "exact", "--json")

    judged = subprocess.run([peer("warcio"), "check", out], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
    targets = {
        line.partition(b": ")[2].strip()
        for line in gzip.decompress(out.read_bytes()).splitlines()
        if line.startswith(b"WARC-Target-URI: ")
    }
    assert PAGE.encode() in {target.strip(b"<>") for target in targets}
    assert told.json["captures"] >= 2


def test_cdxj(demo: Demo, tmp_path: Path, call: Call) -> None:
    """The index lines come sorted, and --from and --to choose among them."""
    whole, part = tmp_path / "all.cdxj", tmp_path / "part.cdxj"

    call("--home", demo.home, "export", "cdxj", whole)
    told = call("--home", demo.home, "export", "cdxj", part, "--from", "2023-01-10", "--to", "2023-01-20", "--json")

    lines = whole.read_bytes().splitlines()
    assert lines == sorted(lines)
    chosen = [line for line in lines if b"20230110000000" <= line.split(b" ")[1] <= b"20230120000000"]
    assert part.read_bytes().splitlines() == chosen
    assert told.json["captures"] == len(chosen) > 0


def test_nothing_fits(demo: Demo, tmp_path: Path, call: Call) -> None:
    """An empty selection is said to be one."""
    told = call("--home", demo.home, "export", "cdxj", tmp_path / "none.cdxj", "--url", "http://other.example/")

    assert told.code == 0
    assert "nothing that is archived fits" in told.err
    assert told.text.startswith("0 captures")


def test_pywb_replays_the_export(demo: Demo, tmp_path: Path, call: Call, peer: Peer) -> None:
    """pywb serves the pages of an exported WARC as `webstrata cat` prints them, at every time they were visited."""
    archive, index = tmp_path / "archive", tmp_path / "index"
    archive.mkdir()
    index.mkdir()
    out = archive / "out.warc.gz"
    call("--home", demo.home, "export", "warc", out, "--url", PAGE, "--match", "host")
    lines = subprocess.run([peer("cdxj-indexer"), "-s", out], capture_output=True, check=True).stdout
    (index / "index.cdxj").write_bytes(lines)
    (tmp_path / "config.yaml").write_text(
        f"collections:\n  all:\n    index_paths: {index}/\n    archive_paths: {archive}/\n"
    )
    log = call("--home", demo.home, "log", PAGE, "--json").json["visits"]
    visits = [visit for visit in log if visit["warc"] and visit["status"] == 200]
    assert len({visit["raw"] for visit in visits}) > 1, "a page that changed is wanted"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "pywb.log").open("w") as told:
        server = subprocess.Popen(
            [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"], cwd=tmp_path, stdout=told, stderr=told
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/", server)
        for visit in visits:
            at = digits14(parse_instant(visit["at"]))
            replayed = _get(f"http://127.0.0.1:{port}/all/{at}id_/{PAGE}")
            assert replayed == call("--home", demo.home, "cat", PAGE, "--at", visit["at"]).out
    finally:
        server.terminate()
        server.wait(20)


def _get(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"Accept-Encoding": "identity"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        body: bytes = answer.read()
        return gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            _get(url)
        except OSError:
            assert server.poll() is None, "pywb did not start"
            assert time.monotonic() < deadline, "pywb does not answer"
            time.sleep(0.05)  # another process: there is no clock to hand it
        else:
            return
