"""`webstrata export`: other tools accept the exported files."""

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
    """The reference validator accepts the WACZ file of a whole home."""
    out = tmp_path / "all.wacz"

    result = call("--home", demo.home, "export", "wacz", out, "--json")

    assert result.json["bytes"] == out.stat().st_size
    assert result.json["captures"] >= demo.board["visits"]
    judged = subprocess.run([peer("wacz"), "validate", "-f", out], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_warc(demo: Demo, tmp_path: Path, call: Call, peer: Peer) -> None:
    """`warcio check` accepts every digest of an exported WARC file."""
    out = tmp_path / "some.warc.gz"

    result = call("--home", demo.home, "export", "warc", out, "--url", PAGE, "--match", "exact", "--json")

    judged = subprocess.run([peer("warcio"), "check", out], capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout
    targets = {
        line.partition(b": ")[2].strip()
        for line in gzip.decompress(out.read_bytes()).splitlines()
        if line.startswith(b"WARC-Target-URI: ")
    }
    assert PAGE.encode() in {target.strip(b"<>") for target in targets}
    assert result.json["captures"] >= 2


def test_cdxj(demo: Demo, tmp_path: Path, call: Call) -> None:
    """The index lines are sorted; --from and --to select a time range."""
    whole, part = tmp_path / "all.cdxj", tmp_path / "part.cdxj"

    call("--home", demo.home, "export", "cdxj", whole)
    result = call("--home", demo.home, "export", "cdxj", part, "--from", "2023-01-10", "--to", "2023-01-20", "--json")

    lines = whole.read_bytes().splitlines()
    assert lines == sorted(lines)
    chosen = [line for line in lines if b"20230110000000" <= line.split(b" ")[1] <= b"20230120000000"]
    assert part.read_bytes().splitlines() == chosen
    assert result.json["captures"] == len(chosen) > 0


def test_nothing_fits(demo: Demo, tmp_path: Path, call: Call) -> None:
    """A message says that no capture matches."""
    result = call("--home", demo.home, "export", "cdxj", tmp_path / "none.cdxj", "--url", "http://other.example/")

    assert result.code == 0
    assert "no archived capture matches" in result.err
    assert result.text.startswith("0 captures")


def test_pywb_replays_the_export(demo: Demo, tmp_path: Path, call: Call, peer: Peer) -> None:
    """pywb replays each version of an exported WARC file with the bytes that `webstrata cat` prints."""
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
    assert len({visit["raw"] for visit in visits}) > 1, "the test needs a page that changed"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "pywb.log").open("w") as result:
        server = subprocess.Popen(
            [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"], cwd=tmp_path, stdout=result, stderr=result
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
            time.sleep(0.05)  # the other process uses real time
        else:
            return
