"""`Checkpoint`: the pages of a dataset fetched so far, in a file until the dataset is complete.

A file has a header and the response bodies as they were sent, each with its length and a checksum, so that an
incomplete write is detected. `whole_dataset.py` decides whether the pages are still valid. Old files are deleted, and
no file grows above a limit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct as Layout
from typing import BinaryIO

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.coding import EncodedBody

MAX_AGE_S = DAY_S
"""Older pages are not used."""
MAX_BYTES = 256_000_000
"""Size of a file, compressed."""
_FRAME = Layout("<II")
_SUFFIX = ".pages"

PageBody = tuple[EncodedBody, str]
"""Body and media type of a response."""


class _Header(Struct, frozen=True):
    endpoint: str
    begun_at: float


class _SavedPage(Struct, frozen=True, array_like=True):
    media_type: str
    content_encoding: str | None
    body: bytes
    """Compressed once more, because most responses are sent without a coding."""


class Checkpoints:
    """A folder with one checkpoint for each endpoint."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, endpoint: str, now: float) -> Checkpoint:
        """The checkpoint of an endpoint. Checkpoints of all endpoints that are too old are deleted."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            header = _header(path)
            if header is None or not 0 <= now - header.begun_at <= MAX_AGE_S:
                _delete(path)
        name = hashlib.sha256(endpoint.encode("utf-8", "replace")).hexdigest()[:32]
        return Checkpoint(self._folder / f"{name}{_SUFFIX}", endpoint)


class Checkpoint:
    """The checkpoint of one endpoint. If it cannot be written, it is given up without an error."""

    def __init__(self, path: Path, endpoint: str) -> None:
        self._path = path
        self._endpoint = endpoint
        self._size = 0
        """Size of the valid part of the file."""
        self._given_up = False

    def pages(self) -> Iterator[PageBody]:
        """The saved pages, in order. The file is read page by page: a body may be much larger than its frame."""
        self._size = 0
        try:
            with self._path.open("rb") as file:
                for number, frame in enumerate(_frames(file)):
                    self._size += _FRAME.size + len(frame)
                    if number:
                        saved = msgspec.msgpack.decode(frame, type=_SavedPage)
                        body = EncodedBody(
                            url=self._endpoint,
                            body=zlib.decompress(saved.body),
                            content_encoding=saved.content_encoding,
                        )
                        yield body, saved.media_type
        except (OSError, msgspec.MsgspecError, zlib.error):
            return

    def add(self, page: PageBody, now: float) -> None:
        """Save another page."""
        if self._given_up:
            return
        body, media_type = page
        saved = _SavedPage(media_type, body.content_encoding, zlib.compress(body.body, 1))
        frame = _framed(msgspec.msgpack.encode(saved))
        if not self._size:
            frame = _framed(msgspec.json.encode(_Header(self._endpoint, now))) + frame
        if self._size + len(frame) > MAX_BYTES:
            self.give_up()
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("r+b" if self._size else "wb") as file:
                file.seek(self._size)
                file.truncate()
                file.write(frame)
            self._size += len(frame)
        except OSError:
            self.give_up()

    def give_up(self) -> None:
        """Delete the file and save no further pages."""
        self.remove()
        self._given_up = True

    def remove(self) -> None:
        self._size = 0
        _delete(self._path)


def _delete(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _framed(content: bytes) -> bytes:
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def _frames(file: BinaryIO) -> Iterator[bytes]:
    """The frames up to the first that is incomplete or damaged."""
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        length, crc = _FRAME.unpack(head)
        frame = file.read(length) if length <= MAX_BYTES else b""
        if len(frame) != length or zlib.crc32(frame) != crc:
            return
        yield frame


def _header(path: Path) -> _Header | None:
    try:
        with path.open("rb") as file:
            header = next(_frames(file), b"")
        return msgspec.json.decode(header, type=_Header)
    except (OSError, msgspec.MsgspecError):
        return None
