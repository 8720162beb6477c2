"""A time-stamp authority for tests: OpenSSL, on its own and behind a real HTTP server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

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


class StampAuthority:
    """A root and a time-stamping certificate in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        config = folder / "tsa.cnf"
        config.write_text(CONFIG.format(folder=folder))
        (folder / "serial").write_text("01\n")
        root_key, key, order = (folder / name for name in ("ca.key", "ts.key", "ts.csr"))
        self._root, self._own = folder / "ca.pem", folder / "ts.pem"
        new = ("req", "-newkey", "rsa:2048", "-nodes", "-config", config)
        own_root = ("-x509", "-days", 9, "-keyout", root_key, "-out", self._root, "-subj", "/CN=root")
        openssl(*new, *own_root, "-extensions", "root")
        openssl(*new, "-keyout", key, "-out", order, "-subj", "/CN=stamps")
        signing = ("x509", "-req", "-in", order, "-CA", self._root, "-CAkey", root_key, "-CAcreateserial", "-days", 9)
        openssl(*signing, "-out", self._own, "-extfile", config, "-extensions", "stamping")

    @property
    def root(self) -> bytes:
        return self._root.read_bytes()

    @property
    def certificate(self) -> bytes:
        """The certificate that signs the stamps, without the text that OpenSSL writes before it."""
        data = self._own.read_bytes()
        return data[data.index(b"-----BEGIN") :]

    def respond(self, query: bytes) -> bytes:
        """The response to a request for a stamp."""
        asked, response = self.folder / "query.tsq", self.folder / "answer.tsr"
        asked.write_bytes(query)
        files = ("-signer", self._own, "-inkey", self.folder / "ts.key", "-chain", self._root)
        openssl("ts", "-reply", "-config", self.folder / "tsa.cnf", "-queryfile", asked, *files, "-out", response)
        return response.read_bytes()

    @contextmanager
    def serving(self, *, status: int = 200) -> Iterator[int]:
        """Run the authority behind an HTTP server at 127.0.0.9 and return its port."""
        respond = self.respond

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_error(404)

            def do_POST(self) -> None:
                response = respond(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(status)
                self.send_header("Content-Type", "application/timestamp-reply")
                self.send_header("Content-Length", str(len(response)))
                self.end_headers()
                self.wfile.write(response)

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
