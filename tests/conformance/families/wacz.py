"""WACZ packages, good ones and ones spoilt as the cases say."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from tests.conformance.verdict import Verdict
from webstrata.archive.wacz.check import check_wacz

FAMILY = "wacz"

Files = dict[str, bytes]


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as made:
        for case in json.loads((folder / "cases.json").read_text()):
            path = folder / "files" / case.get("file", case.get("make_from", ""))
            if "change" in case:
                spoil = next((_CHANGES[words] for words in _CHANGES if words in case["change"]), None)
                if spoil is None:
                    verdict.failed.append(f"{case['id']}: this runner cannot make: {case['change']}")
                    continue
                path = _spoil(path, Path(made) / f"{case['id']}.wacz", spoil)
            verdict.check(case["id"], case["verdict"] == "valid", check_wacz(path) == [])
    return verdict


def _spoil(good: Path, bad: Path, spoil: Callable[[Files], None]) -> Path:
    with ZipFile(good) as package:
        files = {entry.filename: package.read(entry) for entry in package.infolist()}
    spoil(files)
    with ZipFile(bad, "w", ZIP_STORED) as package:
        for name, data in files.items():
            package.writestr(name, data)
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


_CHANGES: dict[str, Callable[[Files], None]] = {
    "delete datapackage.json": lambda files: _drop(files, "datapackage.json"),
    "delete the index": lambda files: _drop(files, "indexes/"),
    "delete the WARC": lambda files: _drop(files, "archive/"),
    "delete pages": lambda files: _drop(files, "pages/"),
    "flip one byte": _flip,
    "change one byte of datapackage.json": _digest_then_change,
    "not listed": lambda files: files.update({"archive/extra.warc": b"WARC/1.1\r\n\r\n"}),
    "md5": _md5_as_sha256,
    "..": _escape,
    "slip": _escape,
    "traversal": _escape,
    "bytes": _lie_about_size,
    "size": _lie_about_size,
}
