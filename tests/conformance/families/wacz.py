"""WACZ packages, good ones and ones spoilt as the cases say."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from webstrata.archive.wacz.check import check_wacz
from webstrata.node import signature_faults

FAMILY = "wacz"

Files = dict[str, bytes]


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as made:
        play_rows(folder / "cases.json", partial(_play, folder, Path(made) / "case.wacz"), verdict)
    return verdict


def _play(folder: Path, made: Path, case: Case, verdict: Verdict) -> None:
    expected = case.choice("verdict", ("valid", "invalid")) == "valid"
    path = case.file(folder / "files", "make_from" if case.has("make_from") else "file")
    if case.has("change"):
        path = _spoil(path, made, _change(case.text("change")))
    elif case.has("make_from"):
        raise UnplayableError("'change' is missing")
    verdict.check(case.id, expected, check_wacz(path, signature_faults) == [])


def _change(words: str) -> Callable[[Files], None]:
    spoil = next((_CHANGES[known] for known in _CHANGES if known in words.lower()), None)
    if spoil is None:
        raise UnplayableError(f"the runner cannot make the change: {words}")
    return spoil


def _spoil(good: Path, bad: Path, spoil: Callable[[Files], None]) -> Path:
    with ZipFile(good) as package:
        files = {entry.filename: package.read(entry) for entry in package.infolist()}
    spoil(files)
    with ZipFile(bad, "w", ZIP_STORED) as package:
        for name, data in files.items():
            is_deflated = spoil is _deflate and name.startswith("archive/")
            package.writestr(name, data, ZIP_DEFLATED if is_deflated else ZIP_STORED)
    return bad


def _drop(files: Files, start: str) -> None:
    for name in [name for name in files if name.startswith(start)]:
        del files[name]


def _warc(files: Files) -> str:
    return next(name for name in files if name.startswith("archive/"))


def _flip(files: Files) -> None:
    data = bytearray(files[_warc(files)])
    data[len(data) // 2] ^= 1
    files[_warc(files)] = bytes(data)


def _digest_then_change(files: Files) -> None:
    package = files["datapackage.json"]
    digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(package).hexdigest()}
    files.setdefault("datapackage-digest.json", json.dumps(digest).encode())
    files["datapackage.json"] = package + b" "


def _md5_as_sha256(files: Files) -> None:
    about = json.loads(files["datapackage.json"])
    resource = about["resources"][0]
    value = hashlib.md5(files[resource["path"]], usedforsecurity=False).hexdigest()
    resource.get("stats", resource)["hash"] = value if "stats" in resource else f"sha256:{value}"
    files["datapackage.json"] = json.dumps(about).encode()


def _escape(files: Files) -> None:
    files["../outside.txt"] = b""


def _lie_about_size(files: Files) -> None:
    about = json.loads(files["datapackage.json"])
    resource = about["resources"][0]
    resource.get("stats", resource)["bytes"] = 1
    files["datapackage.json"] = json.dumps(about).encode()


def _deflate(files: Files) -> None:
    """The contents stay as they are; `_spoil` deflates the WARC files."""


def _bad_signature(files: Files) -> None:
    """One bit of the signature differs; a package without a signature gets one that is not of its hash."""
    package = files["datapackage.json"]
    digest = "sha256:" + hashlib.sha256(package).hexdigest()
    signed = json.loads(files.get("datapackage-digest.json", b"{}")).get("signedData")
    if signed is None:
        signed = {"hash": digest, "publicKey": base64.b64encode(bytes(97)).decode(), "signature": ""}
    signature = bytearray(base64.b64decode(signed["signature"]) or bytes(64))
    signature[-1] ^= 1
    signed["signature"] = base64.b64encode(signature).decode()
    about = {"path": "datapackage.json", "hash": digest, "signedData": signed}
    files["datapackage-digest.json"] = json.dumps(about).encode()


_CHANGES: dict[str, Callable[[Files], None]] = {
    "signature": _bad_signature,
    "deflate": _deflate,
    "compress": _deflate,
    "delete datapackage.json": lambda files: _drop(files, "datapackage.json"),
    "delete the index": lambda files: _drop(files, "indexes/"),
    "delete the warc": lambda files: _drop(files, "archive/"),
    "delete pages": lambda files: _drop(files, "pages/"),
    "flip one byte": _flip,
    "change one byte of datapackage.json": _digest_then_change,
    "not listed": lambda files: files.update({"archive/extra.warc": b"WARC/1.1\r\n\r\n"}),
    "md5": _md5_as_sha256,
    "..": _escape,
    "slip": _escape,
    "traversal": _escape,
    "absolute path": lambda files: files.update({"/outside.txt": b""}),
    "bytes": _lie_about_size,
    "size": _lie_about_size,
}
"""Changes by words of their description, in lower case."""
