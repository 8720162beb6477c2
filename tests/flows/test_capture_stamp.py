"""A time stamp authority, played by OpenSSL behind a real HTTP server, stamps the certificates of captures."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.flows.capturing import capture, envelope, faults, links, site
from tests.flows.conftest import Life
from webstrata.sharp.timestamp import stamped_at

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

CONFIG = """
[tsa]
default_tsa = main
[main]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
[stamping]
basicConstraints = critical,CA:false
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[req]
distinguished_name = name
[name]
"""


def openssl(*words: object) -> None:
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def authority(folder: Path) -> Path:
    """A root and a certificate that may stamp; the root's file."""
    config = folder / "tsa.cnf"
    config.write_text(CONFIG.format(folder=folder))
    (folder / "serial").write_text("01\n")
    root, root_key, key, asked, own = (folder / name for name in ("ca.pem", "ca.key", "ts.key", "ts.csr", "ts.pem"))
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-config", config)
    openssl(*new, "-x509", "-days", 9, "-keyout", root_key, "-out", root, "-subj", "/CN=root", "-extensions", "root")
    openssl(*new, "-keyout", key, "-out", asked, "-subj", "/CN=stamps")
    signing = ("x509", "-req", "-in", asked, "-CA", root, "-CAkey", root_key, "-CAcreateserial", "-days", 9)
    openssl(*signing, "-out", own, "-extfile", config, "-extensions", "stamping")
    return root


@contextmanager
def serving(folder: Path, *, status: int = 200) -> Iterator[int]:
    """The authority's port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def do_POST(self) -> None:
            query, told = folder / "query.tsq", folder / "answer.tsr"
            query.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            files = ("-signer", folder / "ts.pem", "-inkey", folder / "ts.key")
            openssl("ts", "-reply", "-config", folder / "tsa.cnf", "-queryfile", query, *files, "-out", told)
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(told.stat().st_size))
            self.end_headers()
            self.wfile.write(told.read_bytes())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.9", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@needs_openssl
@pytest.mark.parametrize("status", [200, 500], ids=["stamped", "refused"])
def test_certificates_are_stamped(status: int, live: Callable[..., None], tmp_path: Path) -> None:
    """The stamp leads back to the authority's root; without one the capture is signed all the same, and says so."""
    folder = tmp_path / "tsa"
    folder.mkdir()
    root = authority(folder)

    async def scenario(life: Life) -> None:
        site(life, a=links())
        taken = await capture(life)
        assert taken.proved.stamped == (status == 200)
        told = envelope(taken.proved.file)
        assert ("timestamp" in told) == (status == 200)
        if status == 200:
            assert stamped_at(told) is not None
            assert faults(taken.proved.file, authorities=[root.read_bytes()]) == []

    with serving(folder, status=status) as port:
        live(
            scenario,
            f"capture.timestamp_url=http://127.0.0.9:{port}/stamp",
            f"fetch.allow=127.0.0.9/32:{port}",
        )
