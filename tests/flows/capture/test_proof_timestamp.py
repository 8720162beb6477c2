"""Certificates with time stamps of an authority: OpenSSL behind a real HTTP server."""

from __future__ import annotations

import base64
import hashlib
import runpy
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rfc3161_client import decode_timestamp_response

from tests.flows.capture.capturing import capture, envelope, faults, links, site
from tests.flows.conftest import Archiver
from webstrata import verifier
from webstrata.sharp.proof.timestamp import timestamp_fault

second_stamp_check: Callable[[Any], list[str]] = runpy.run_path(
    str(Path(verifier.__file__).parent / "verify_capture.py")
)["stamp"]

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
    """Create a root and a time-stamping certificate; returns the file of the root."""
    config = folder / "tsa.cnf"
    config.write_text(CONFIG.format(folder=folder))
    (folder / "serial").write_text("01\n")
    root, root_key, key, signing_request, own = (
        folder / name for name in ("ca.pem", "ca.key", "ts.key", "ts.csr", "ts.pem")
    )
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-config", config)
    openssl(*new, "-x509", "-days", 9, "-keyout", root_key, "-out", root, "-subj", "/CN=root", "-extensions", "root")
    openssl(*new, "-keyout", key, "-out", signing_request, "-subj", "/CN=stamps")
    signing = ("x509", "-req", "-in", signing_request, "-CA", root, "-CAkey", root_key, "-CAcreateserial", "-days", 9)
    openssl(*signing, "-out", own, "-extfile", config, "-extensions", "stamping")
    return root


@contextmanager
def serving(folder: Path, *, status: int = 200) -> Iterator[int]:
    """Run the authority and return its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def do_POST(self) -> None:
            query, response = folder / "query.tsq", folder / "answer.tsr"
            query.write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            files = ("-signer", folder / "ts.pem", "-inkey", folder / "ts.key", "-chain", folder / "ca.pem")
            openssl("ts", "-reply", "-config", folder / "tsa.cnf", "-queryfile", query, *files, "-out", response)
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(response.stat().st_size))
            self.end_headers()
            self.wfile.write(response.read_bytes())

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


def in_any_order(document: dict[str, Any], folder: Path) -> None:
    """Certificates in an order that DER forbids are accepted, because authorities send them."""
    token = base64.b64decode(document["timestamp"]["token"])
    first, second = (ssl.PEM_cert_to_DER_cert((folder / name).read_text()[-5000:]) for name in ("ca.pem", "ts.pem"))
    assert (first + second in token) or (second + first in token)
    strict = 0
    for order in (first + second, second + first):
        sent = token.replace(first + second, order).replace(second + first, order)
        again = document | {"timestamp": {"token": base64.b64encode(sent).decode()}}
        assert timestamp_fault(again, [(folder / "ca.pem").read_bytes()]) is None
        with suppress(ValueError):
            decode_timestamp_response(sent)
            strict += 1
    assert strict == 1, "a strict parser accepts only one order"


def faults_of_the_second_verifier(document: dict[str, Any]) -> None:
    """The second verifier detects a stamp of another signature, a refusal and a truncated token."""
    assert second_stamp_check(document) == []
    other = document | {"signature": {"value": base64.b64encode(bytes(64)).decode()}}
    assert second_stamp_check(other) == ["timestamp: refused, or made for another signature"]
    token = base64.b64decode(document["timestamp"]["token"])
    digest = hashlib.sha256(base64.b64decode(document["signature"]["value"])).digest()
    altered = token.replace(digest, bytes(32))
    assert altered != token
    assert second_stamp_check(document | {"timestamp": {"token": base64.b64encode(altered).decode()}})
    with pytest.raises((LookupError, ValueError)):
        second_stamp_check(document | {"timestamp": {"token": base64.b64encode(token[:60]).decode()}})


@needs_openssl
@pytest.mark.parametrize("status", [200, 500], ids=["stamped", "refused"])
def test_certificates_are_stamped(status: int, run_scenario: Callable[..., None], tmp_path: Path) -> None:
    """The chain of the time stamp ends at the authority's root; without a time stamp the capture is still signed."""
    folder = tmp_path / "tsa"
    folder.mkdir()
    root = authority(folder)

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links())
        taken = await capture(archiver)
        assert taken.finished.stamped == (status == 200)
        document = envelope(taken.finished.file)
        assert ("timestamp" in document) == (status == 200)
        if status == 200:
            assert faults(taken.finished.file, authorities=[root.read_bytes()]) == []
            in_any_order(document, folder)
            faults_of_the_second_verifier(document)

    with serving(folder, status=status) as port:
        run_scenario(
            scenario,
            f"capture.timestamp_url=http://127.0.0.9:{port}/stamp",
            f"fetch.allow_private=127.0.0.9/32:{port}",
        )
