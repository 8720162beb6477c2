"""Signed packages with lists of pages are accepted by py-wacz, authsign and pywb."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate

from tests.archive.conftest import START_AT, make_capture, write_home
from tests.sharp.proof.domain_keys import DOMAIN, domain_keys
from tests.sharp.proof.stamp_authority import StampAuthority
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.pages import PackagePages
from webstrata.archive.wacz.writer import PackageOrder, export_wacz
from webstrata.node import signature_faults
from webstrata.observe.html.page_text import page_text
from webstrata.sharp.proof.signature import PackageSigner, new_key
from webstrata.sharp.proof.timestamp import request, stamped

Peer = Callable[[str], str]
SITE = "http://example.com"

VERIFY = """
import json, sys
from authsign.verifier import Verifier
signed, roots = sys.argv[1:]
print(json.dumps(Verifier(roots)(json.load(open(signed))).model_dump()))
"""


def _packed(tmp_path: Path, sign: Callable[[str, float], dict[str, str]], at: float) -> Path:
    captures = [
        make_capture(f"{SITE}/", b"<title>Start</title><p>first words<a href=/a>next</a>"),
        make_capture(f"{SITE}/a", b"<title>Next</title><p>second words"),
    ]
    home = write_home(tmp_path, captures)
    source = OpenArchive(home.archive, home.index)
    choice = PackagePages(seeds=(f"{SITE}/",), nearest_to=START_AT, describe=page_text)
    order = PackageOrder(software="webstrata/0.1", title="A site", pages=choice, sign=sign)
    export_wacz(source, Selection(), tmp_path / "site.wacz", order, at=at)
    source.close()
    return tmp_path / "site.wacz"


def _anonymous(digest: str, created: float) -> dict[str, str]:
    return PackageSigner(new_key()).signed_data(digest, created, "webstrata/0.1")


def _signed_data(file: Path) -> dict[str, Any]:
    with ZipFile(file) as package:
        return dict(json.loads(package.read("datapackage-digest.json"))["signedData"])


def test_py_wacz_validates(tmp_path: Path, peer: Peer) -> None:
    """`wacz validate` accepts a signed package, and refuses it if the time of the signature is another."""
    file = _packed(tmp_path, _anonymous, START_AT)
    words = [peer("wacz"), "validate", "-f"]
    done = subprocess.run([*words, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Has signature" in done.stdout
    assert check_wacz(file, signature_faults) == []
    other = _packed(tmp_path / "other", lambda digest, created: _anonymous(digest, created - 1), START_AT)
    assert subprocess.run([*words, other], capture_output=True, check=False).returncode == 1


def test_authsign_verifies(tmp_path: Path, peer: Peer) -> None:
    """authsign verifies a signature in the name of a domain, its chain and its time stamp, and refuses altered ones."""
    keys = domain_keys(begin=datetime.now(UTC).replace(microsecond=0) - timedelta(days=1))
    authority = StampAuthority(tmp_path / "authority")
    signer = PackageSigner(keys.key, keys.chain)

    def sign(digest: str, created: float) -> dict[str, str]:
        signed = signer.signed_data(digest, created, "webstrata/0.1")
        return signed | stamped(signed["signature"], authority.respond(request(signed["signature"])), "the authority")

    signed = _signed_data(_packed(tmp_path, sign, time.time()))
    prints = [load_pem_x509_certificate(pem).fingerprint(SHA256()).hex() for pem in (keys.root, authority.root)]
    roots = tmp_path / "roots.yaml"
    roots.write_text(f"domain_cert_roots: ['{prints[0]}']\ntimestamp_cert_roots: ['{prints[1]}']\n")

    def verified(document: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        (tmp_path / "signed.json").write_text(json.dumps(document))
        words = [peer("python"), "-c", VERIFY, str(tmp_path / "signed.json"), str(roots)]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    done = verified(signed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["observer"] == DOMAIN
    other = sign("sha256:00", float(int(time.time())))
    for change in ({"hash": "sha256:00"}, {"timeSignature": other["timeSignature"]}, {"domain": "other.example"}):
        assert verified(signed | change).returncode == 1


def test_pywb_replays_a_package(tmp_path: Path, peer: Peer) -> None:
    """pywb unpacks a package into a collection and replays its pages."""
    file = _packed(tmp_path, _anonymous, START_AT)
    folder = tmp_path / "pywb"
    folder.mkdir()
    for words in (["init", "site"], ["add", "--unpack-wacz", "site", str(file)]):
        done = subprocess.run([peer("wb-manager"), *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    with _replaying(folder, peer) as get:
        assert b"<p>second words" in get(f"site/2026mp_/{SITE}/a")
        assert b"<p>first words" in get(f"site/2026mp_/{SITE}/")


@contextmanager
def _replaying(folder: Path, peer: Peer) -> Iterator[Callable[[str], bytes]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "pywb.log").open("w") as log:
        words = [peer("wayback"), "--port", str(port), "--bind", "127.0.0.1"]
        server = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)

    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=20) as response:
            body: bytes = response.read()
            return body

    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                get("")
                break
            except OSError:
                assert server.poll() is None, "pywb did not start"
                assert time.monotonic() < deadline, "pywb does not respond"
                time.sleep(0.05)  # another process, which does not use the test's clock
        yield get
    finally:
        server.terminate()
        server.wait(20)
