"""A time stamp authority, played by OpenSSL behind a real HTTP server, stamps the certificates of captures."""

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

from tests.flows.capturing import capture, envelope, faults, links, site
from tests.flows.conftest import Life
from webstrata import verifier
from webstrata.sharp.proof.timestamp import stamped_at, timestamp_fault

stamp_alone: Callable[[Any], list[str]] = runpy.run_path(str(Path(verifier.__file__).parent / "verify_capture.py"))[
    "stamp"
]

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
            files = ("-signer", folder / "ts.pem", "-inkey", folder / "ts.key", "-chain", folder / "ca.pem")
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


def in_any_order(told: dict[str, Any], folder: Path) -> None:
    """Certificates in an order that DER forbids are read all the same: authorities send them so."""
    token = base64.b64decode(told["timestamp"]["token"])
    one, other = (ssl.PEM_cert_to_DER_cert((folder / name).read_text()[-5000:]) for name in ("ca.pem", "ts.pem"))
    assert (one + other in token) or (other + one in token)
    strict = 0
    for order in (one + other, other + one):
        sent = token.replace(one + other, order).replace(other + one, order)
        again = told | {"timestamp": {"token": base64.b64encode(sent).decode()}}
        assert timestamp_fault(again, [(folder / "ca.pem").read_bytes()]) is None
        with suppress(ValueError):
            decode_timestamp_response(sent)
            strict += 1
    assert strict == 1, "without help only one order can be read"


def seen_by_the_second_verifier(told: dict[str, Any]) -> None:
    """The verifier that stands alone sees a stamp for another signature, a refusal and a torn token."""
    assert stamp_alone(told) == []
    other = told | {"signature": {"value": base64.b64encode(bytes(64)).decode()}}
    assert stamp_alone(other) == ["timestamp: refused, or made for another signature"]
    token = base64.b64decode(told["timestamp"]["token"])
    digest = hashlib.sha256(base64.b64decode(told["signature"]["value"])).digest()
    altered = token.replace(digest, bytes(32))
    assert altered != token
    assert stamp_alone(told | {"timestamp": {"token": base64.b64encode(altered).decode()}})
    with pytest.raises((LookupError, ValueError)):
        stamp_alone(told | {"timestamp": {"token": base64.b64encode(token[:60]).decode()}})


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
            in_any_order(told, folder)
            seen_by_the_second_verifier(told)

    with serving(folder, status=status) as port:
        live(
            scenario,
            f"capture.timestamp_url=http://127.0.0.9:{port}/stamp",
            f"fetch.allow_private=127.0.0.9/32:{port}",
        )
