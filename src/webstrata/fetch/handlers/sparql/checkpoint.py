"""Where the reading of a dataset stopped: the pages of rows that came, in a file until the dataset is whole.

A file is a head and the answers as they came, each with its length and a check sum: what a crash tore is not read.
Whether they still hold is not decided here (`sparql_everything`). Old ones are deleted, too long ones given up.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import Struct as Layout

import msgspec
from msgspec import Struct

from webstrata.clock import DAY_S

LONGEST_S = DAY_S
"""Age from which on nothing is made of kept pages."""
LARGEST = 256_000_000
"""Bytes of a file, packed."""
_FRAME = Layout("<II")
_LONGEST_HEAD = 65_536
_ENDING = ".pages"

Answer = tuple[bytes, str]
"""Body and media type."""


class _CheckpointHead(Struct, frozen=True):
    endpoint: str
    begun_at: float


class Checkpoints:
    """A folder of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, endpoint: str, now: float) -> Checkpoint:
        """The endpoint's; what is too old, of whichever endpoint, goes."""
        for path in self._folder.glob(f"*{_ENDING}"):
            head = _head(path)
            if head is None or not 0 <= now - head.begun_at <= LONGEST_S:
                _delete(path)
        name = hashlib.sha256(endpoint.encode("utf-8", "replace")).hexdigest()[:32]
        return Checkpoint(self._folder / f"{name}{_ENDING}", endpoint)


class Checkpoint:
    """Of one endpoint. A disk that is full, or a folder that cannot be written, costs the bookmark and nothing else."""

    def __init__(self, path: Path, endpoint: str) -> None:
        self._path = path
        self._endpoint = endpoint
        self._size = 0
        """Of what is whole in the file."""
        self._given_up = False

    def pages(self) -> list[Answer]:
        """What was kept, in order."""
        try:
            content = self._path.read_bytes()
        except OSError:
            return []
        _, *found = list(_frames(content)) or [b""]
        self._size = sum(_FRAME.size + len(one) for one in _frames(content))
        parts = [one.partition(b"\n") for one in found]
        return [(zlib.decompress(body), media_type.decode("ascii")) for media_type, _, body in parts]

    def add(self, answer: Answer, now: float) -> None:
        """Keep one more page."""
        if self._given_up:
            return
        body, media_type = answer
        frame = _framed(media_type.encode("ascii", "replace") + b"\n" + zlib.compress(body, 1))
        if not self._size:
            frame = _framed(msgspec.json.encode(_CheckpointHead(self._endpoint, now))) + frame
        if self._size + len(frame) > LARGEST:
            self.give_up()
            return
        try:
            self._write(frame)
        except OSError:
            self.give_up()

    def _write(self, frame: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("r+b" if self._size else "wb") as file:
            file.seek(self._size)
            file.truncate()
            file.write(frame)
        self._size += len(frame)

    def give_up(self) -> None:
        """Keep nothing more of this reading."""
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


def _frames(content: bytes) -> Iterator[bytes]:
    """Up to the first that is not whole."""
    place = 0
    while len(content) >= place + _FRAME.size:
        length, check = _FRAME.unpack_from(content, place)
        place += _FRAME.size + length
        found = content[place - length : place]
        if len(found) != length or zlib.crc32(found) != check:
            return
        yield found


def _head(path: Path) -> _CheckpointHead | None:
    try:
        with path.open("rb") as file:
            head = next(_frames(file.read(_LONGEST_HEAD)), b"")
        return msgspec.json.decode(head, type=_CheckpointHead)
    except (OSError, msgspec.MsgspecError):
        return None
