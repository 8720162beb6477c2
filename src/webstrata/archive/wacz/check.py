"""Check of WACZ files from any source: ZIP entries, required files, and digests. Nothing is unpacked to disk."""

from __future__ import annotations

import hashlib
import json
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

SignatureCheck = Callable[[dict[str, Any], bytes], Sequence[str]]
"""(the document `datapackage-digest.json`, the bytes of `datapackage.json`) -> the faults of its signature."""

_PACKAGE = "datapackage.json"
_DIGEST = "datapackage-digest.json"
_MAX_ENTRIES = 100_000
_MAX_JSON_BYTES = 16 * 1024**2
# Text usually compresses by a factor of 10, rarely 50. A file beyond both limits is a decompression bomb.
_MAX_RATIO, _MAX_BYTES = 100, 1024**3
_READ_BYTES = 1024**2
_ALGORITHMS = frozenset({"sha256", "sha512", "sha1", "md5"})


def check_wacz(path: Path, signature: SignatureCheck | None = None) -> list[str]:
    """All faults, one line each; empty for a valid file. Never raises because of the content of the file.

    A signature is checked if the function for it is given.
    """
    try:
        with ZipFile(path) as package:
            hostile = list(_hostile_faults(package, path.stat().st_size))
            return hostile or list(_content_faults(package, signature))
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, ValueError) as error:
        return [f"not a readable ZIP file: {error}"]
    except OSError as error:
        return [f"cannot be read: {error}"]


def _hostile_faults(package: ZipFile, file_bytes: int) -> Iterator[str]:
    """Faults for which the file is rejected before any entry is read."""
    entries = package.infolist()
    if len(entries) > _MAX_ENTRIES:
        yield f"{len(entries)} entries, more than {_MAX_ENTRIES}"
        return
    names = [entry.filename for entry in entries]
    if len(set(names)) != len(names):
        yield "two entries have the same name"
    if sum(entry.compress_size for entry in entries) > file_bytes:
        yield "entries overlap: a decompression bomb"
    total = sum(entry.file_size for entry in entries)
    if total > _MAX_BYTES and total > _MAX_RATIO * file_bytes:
        yield f"inflates to {total} bytes, {total // max(1, file_bytes)} times its size: a decompression bomb"
    for entry in entries:
        yield from _hostile_entry_faults(entry)


def _hostile_entry_faults(entry: ZipInfo) -> Iterator[str]:
    name = entry.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\\" in name or ":" in parts[0] or "\0" in name:
        yield f"the name of an entry is outside the folder: {name!r}"
    if stat.S_ISLNK(entry.external_attr >> 16):
        yield f"an entry is a link: {name!r}"
    if entry.flag_bits & 1:
        yield f"an entry is encrypted: {name!r}"
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        yield f"an entry has an unknown compression: {name!r}"


def _content_faults(package: ZipFile, signature: SignatureCheck | None) -> Iterator[str]:
    files = {entry.filename: entry for entry in package.infolist() if not entry.is_dir()}
    if _PACKAGE not in files:
        yield f"{_PACKAGE} is missing"
        return
    if not any(name.startswith("archive/") and name.endswith((".warc", ".warc.gz")) for name in files):
        yield "no WARC file in archive/"
    if not any(name.startswith("indexes/") and name.endswith((".cdx", ".cdxj", ".cdx.gz")) for name in files):
        yield "no index in indexes/"
    if "pages/pages.jsonl" not in files:
        yield "pages/pages.jsonl is missing"
    raw = _read_json(package, files[_PACKAGE])
    about = _json_object(raw)
    if about is None:
        yield f"{_PACKAGE} is not a JSON object"
        return
    if not isinstance(about.get("wacz_version"), str):
        yield f"{_PACKAGE} has no wacz_version"
    yield from _resource_faults(package, files, about.get("resources"))
    yield from untrusted_faults(package, signature)
    if _DIGEST in files:
        yield from _package_digest_faults(_json_object(_read_json(package, files[_DIGEST])), raw)


def untrusted_faults(package: ZipFile, signature: SignatureCheck | None) -> Iterator[str]:
    """Faults for which the records of a package are not used: deflated WARC files, a wrong signature."""
    for entry in package.infolist():
        if entry.filename.startswith("archive/") and not entry.is_dir() and entry.compress_type != ZIP_STORED:
            yield f"{entry.filename} is deflated in the ZIP file, so that its records cannot be read by offset"
    files = {entry.filename: entry for entry in package.infolist()}
    if signature is not None and _DIGEST in files and _PACKAGE in files:
        document = _json_object(_read_json(package, files[_DIGEST])) or {}
        yield from signature(document, _read_json(package, files[_PACKAGE]))


def _resource_faults(package: ZipFile, files: dict[str, ZipInfo], resources: object) -> Iterator[str]:
    if not isinstance(resources, list) or not resources:
        yield f"{_PACKAGE} lists no resources"
        return
    listed: set[str] = set()
    for resource in resources:
        path = resource.get("path") if isinstance(resource, dict) else None
        if not isinstance(path, str) or path not in files:
            yield f"a listed file is missing: {path!r}"
            continue
        listed.add(path)
        yield from _file_faults(package, files[path], resource)
    for name in sorted(files.keys() - listed - {_PACKAGE, _DIGEST}):
        yield f"a file is not listed in {_PACKAGE}: {name!r}"


def _file_faults(package: ZipFile, entry: ZipInfo, resource: dict[str, Any]) -> Iterator[str]:
    """Check size and digest, in the format of version 1.1 or 1.0 (`stats`, `hashing`)."""
    stats = resource.get("stats")
    old: dict[str, Any] = stats if isinstance(stats, dict) else {}
    size = resource.get("bytes", old.get("bytes"))
    if size is not None and size != entry.file_size:
        yield f"{entry.filename} has {entry.file_size} bytes, not {size}"
    digest = str(resource.get("hash", old.get("hash", "")))
    algorithm, colon, value = digest.partition(":")
    if not colon:
        algorithm, value = str(resource.get("hashing", "")), digest
    if algorithm not in _ALGORITHMS:
        yield f"{entry.filename} has no digest that can be checked"
    elif entry_digest(package, entry, algorithm) != value.lower():
        yield f"{entry.filename} does not match its {algorithm}"


def _package_digest_faults(about: dict[str, Any] | None, package: bytes) -> Iterator[str]:
    algorithm, _, value = str((about or {}).get("hash", "")).partition(":")
    if algorithm not in _ALGORITHMS:
        yield f"{_DIGEST} holds no digest that can be checked"
    elif (about or {}).get("path") != _PACKAGE:
        yield f"{_DIGEST} names another file"
    elif hashlib.new(algorithm, package, usedforsecurity=False).hexdigest() != value.lower():
        yield f"{_PACKAGE} does not match {_DIGEST}"


def entry_digest(package: ZipFile, entry: ZipInfo, algorithm: str) -> str:
    """The digest of a file of the package, in hexadecimal."""
    state = hashlib.new(algorithm, usedforsecurity=False)
    with package.open(entry) as file:
        while part := file.read(_READ_BYTES):
            state.update(part)
    return state.hexdigest()


def _read_json(package: ZipFile, entry: ZipInfo) -> bytes:
    with package.open(entry) as file:
        return file.read(_MAX_JSON_BYTES)


def _json_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
