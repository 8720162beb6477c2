"""WARC files as other crawlers write them, record by record."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b32encode
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def sha1_base32(body: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def record_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def http(body: bytes = b"", status: int = 200, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", "Content-Type: text/html", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def record(kind: str, url: str, date: str, block: bytes, /, **fields: str) -> bytes:
    """A record; underscores in the names of fields are hyphens."""
    content_type = "application/warc-fields" if kind == "metadata" else f"application/http; msgtype={kind}"
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": record_id(),
        "WARC-Date": date,
        "WARC-Target-URI": url,
        "Content-Type": content_type,
        **{name.replace("_", "-"): value for name, value in fields.items()},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def response(url: str, date: str, body: bytes = b"", status: int = 200, /, *headers: str, **fields: str) -> bytes:
    return record("response", url, date, http(body, status, *headers), **fields)


def revisit(url: str, date: str, block: bytes = b"", /, **fields: str) -> bytes:
    return record("revisit", url, date, block or http(), **{"WARC_Profile": IDENTICAL, **fields})


def write_warc(path: Path, records: Iterable[bytes]) -> Path:
    """One gzip member for each record, or none if the file's name does not end in `.gz`."""
    is_packed = path.name.endswith(".gz")
    path.write_bytes(b"".join(gzip.compress(one, 1) if is_packed else one for one in records))
    return path
