"""Tools of other projects accept the written files and report the same contents."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.archive.conftest import make_capture, write_family, write_home
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.wacz.writer import PackageOrder, export_wacz
from webstrata.clock import digits14
from webstrata.records import Capture

Peer = Callable[[str], str]


def test_gzip(tmp_path: Path) -> None:
    """`gzip -t` accepts the file."""
    home, _ = write_family(tmp_path)

    subprocess.run(["gzip", "-t", home.warc], check=True)


def test_warcio_check(tmp_path: Path, peer: Peer) -> None:
    """`warcio check` passes all digests."""
    home, _ = write_family(tmp_path)

    result = subprocess.run([peer("warcio"), "check", "-v", home.warc], capture_output=True, text=True, check=True)

    assert result.stdout.count("digest pass") == 7  # warcinfo, two responses, four requests
    assert "failed" not in result.stdout


def test_cdxj_indexer(tmp_path: Path, peer: Peer) -> None:
    """cdxj-indexer prints the same bytes as the index segment."""
    odd = [
        make_capture("http://www.Example.com:80/x?b=1&a=2", b""),
        make_capture("https://example.com/caf%C3%A9/\u00e9", b"1", 1.5e9),
        make_capture("http://xn--mnchen-3ya.example/", b"2", response_head=b"HTTP/1.1 404 No\r\n\r\n", status=404),
        make_capture(
            "http://192.0.2.1/a'b\"c",
            b"3",
            response_head=b'HTTP/1.1 200 OK\r\ncontent-type:  "odd\\type" ; x\r\n\r\n',
        ),
    ]
    home = write_home(tmp_path, odd)

    result = subprocess.run([peer("cdxj-indexer"), "-s", home.warc], capture_output=True, check=True)

    assert result.stdout == home.segment.read_bytes()


def test_cdxj_indexer_on_revisits(tmp_path: Path, peer: Peer) -> None:
    """cdxj-indexer prints the same lines for revisits."""
    home, _ = write_family(tmp_path)

    result = subprocess.run([peer("cdxj-indexer"), "-s", home.warc], capture_output=True, check=True)

    assert result.stdout == home.segment.read_bytes()


def test_wacz_validate(tmp_path: Path, peer: Peer) -> None:
    """The reference validator accepts an exported WACZ file."""
    home, _ = write_family(tmp_path)
    out = tmp_path / "out.wacz"
    source = OpenArchive(home.archive, home.index)
    export_wacz(source, Selection(), out, PackageOrder(software="webstrata/0.1", title="A test"), at=1.79e9)
    source.close()

    result = subprocess.run([peer("wacz"), "validate", "-f", out], capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def family(tmp_path: Path) -> list[Capture]:
    return write_family(tmp_path)[1]


@pytest.fixture
def replay(tmp_path: Path, family: list[Capture], peer: Peer) -> Iterator[Callable[[str], bytes]]:
    """Runs pywb on the WARC files and the index; requests raw bodies (`timestamp id_ / URL`)."""
    (tmp_path / "config.yaml").write_text(
        f"collections:\n  all:\n    index_paths: {tmp_path}/index/\n    archive_paths: {tmp_path}/archive/\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "pywb.log").open("w") as log:
        server = subprocess.Popen(
            [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"], cwd=tmp_path, stdout=log, stderr=log
        )

    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=20) as response:
            body: bytes = response.read()
            return body

    try:
        _wait_for(lambda: get(""), server)
        yield get
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(request: Callable[[], object], server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            request()
        except OSError:
            assert server.poll() is None, "pywb did not start"
            assert time.monotonic() < deadline, "pywb does not respond"
            time.sleep(0.05)  # another process, which does not use the test's clock
        else:
            return


def test_pywb_replays(family: list[Capture], replay: Callable[[str], bytes]) -> None:
    """pywb serves captures, and revisits with the body of their original, by the index."""
    for capture in family[:3]:
        exchange = capture.exchange
        assert replay(f"all/{digits14(exchange.at)}id_/{exchange.url}") == exchange.body
    unmodified = family[3].exchange
    with pytest.raises(urllib.error.HTTPError, match="304"):
        replay(f"all/{digits14(unmodified.at)}id_/{unmodified.url}")
