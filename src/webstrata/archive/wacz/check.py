"""Is this a WACZ file, and are its files the ones that it lists? Read without trust, nothing unpacked."""

from __future__ import annotations

import hashlib
import json
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

_PACKAGE = "datapackage.json"
_DIGEST = "datapackage-digest.json"
_MAX_ENTRIES = 100_000
_MAX_JSON_BYTES = 16 * 1024**2
# Text compresses ten times, seldom fifty; an archive that grows more, and to this size, is a bomb.
_MAX_RATIO, _MAX_BYTES = 100, 1024**3
_READ_BYTES = 1024**2
_ALGORITHMS = frozenset({"sha256", "sha512", "sha1", "md5"})


def check_wacz(path: Path) -> list[str]:
    """Everything that is wrong, one line each; empty for a good file. Never raises for what the file holds."""
    try:
        with ZipFile(path) as package:
            hostile = list(_hostile(package, path.stat().st_size))
            return hostile or list(_wrong(package))
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, ValueError) as error:
        return [f"not a readable ZIP file: {error}"]
    except OSError as error:
        return [f"cannot be read: {error}"]


def _hostile(package: ZipFile, file_bytes: int) -> Iterator[str]:
    """What must not even be looked into."""
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
        yield from _hostile_entry(entry)


def _hostile_entry(entry: ZipInfo) -> Iterator[str]:
    name = entry.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\\" in name or ":" in parts[0] or "\0" in name:
        yield f"the name of an entry leaves the folder: {name!r}"
    if stat.S_ISLNK(entry.external_attr >> 16):
        yield f"an entry is a link: {name!r}"
    if entry.flag_bits & 1:
        yield f"an entry is encrypted: {name!r}"
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        yield f"an entry has an unknown compression: {name!r}"


def _wrong(package: ZipFile) -> Iterator[str]:
    files = {entry.filename: entry for entry in package.infolist() if not entry.is_dir()}
    if _PACKAGE not in files:
        yield f"{_PACKAGE} is missing"
        return
    yield from _missing_parts(set(files))
    raw = _small(package, files[_PACKAGE])
    about = _json_object(raw)
    if about is None:
        yield f"{_PACKAGE} is not a JSON object"
        return
    if not isinstance(about.get("wacz_version"), str):
        yield f"{_PACKAGE} does not say its wacz_version"
    yield from _wrong_resources(package, files, about.get("resources"))
    if _DIGEST in files:
        yield from _wrong_digest(_json_object(_small(package, files[_DIGEST])), raw)


def _missing_parts(names: set[str]) -> Iterator[str]:
    if not any(name.startswith("archive/") and name.endswith((".warc", ".warc.gz")) for name in names):
        yield "no WARC file below archive/"
    if not any(name.startswith("indexes/") and name.endswith((".cdx", ".cdxj", ".cdx.gz")) for name in names):
        yield "no index below indexes/"
    if "pages/pages.jsonl" not in names:
        yield "pages/pages.jsonl is missing"


def _wrong_resources(package: ZipFile, files: dict[str, ZipInfo], resources: object) -> Iterator[str]:
    if not isinstance(resources, list) or not resources:
        yield f"{_PACKAGE} lists no resources"
        return
    listed: set[str] = set()
    for resource in resources:
        path = resource.get("path") if isinstance(resource, dict) else None
        if not isinstance(path, str) or path not in files:
            yield f"a listed file is not there: {path!r}"
            continue
        listed.add(path)
        yield from _wrong_file(package, files[path], resource)
    for name in sorted(files.keys() - listed - {_PACKAGE, _DIGEST}):
        yield f"a file is not listed in {_PACKAGE}: {name!r}"


def _wrong_file(package: ZipFile, entry: ZipInfo, resource: dict[str, Any]) -> Iterator[str]:
    """Size and digest, as version 1.1 writes them or as 1.0 did (`stats`, `hashing`)."""
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
    elif _digest(package, entry, algorithm) != value.lower():
        yield f"{entry.filename} does not fit its {algorithm}"


def _wrong_digest(about: dict[str, Any] | None, package: bytes) -> Iterator[str]:
    algorithm, _, value = str((about or {}).get("hash", "")).partition(":")
    if algorithm not in _ALGORITHMS:
        yield f"{_DIGEST} holds no digest that can be checked"
    elif (about or {}).get("path") != _PACKAGE:
        yield f"{_DIGEST} is about another file"
    elif hashlib.new(algorithm, package, usedforsecurity=False).hexdigest() != value.lower():
        yield f"{_PACKAGE} does not fit {_DIGEST}"


def _digest(package: ZipFile, entry: ZipInfo, algorithm: str) -> str:
    state = hashlib.new(algorithm, usedforsecurity=False)
    with package.open(entry) as file:
        while part := file.read(_READ_BYTES):
            state.update(part)
    return state.hexdigest()


def _small(package: ZipFile, entry: ZipInfo) -> bytes:
    with package.open(entry) as file:
        return file.read(_MAX_JSON_BYTES)


def _json_object(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
