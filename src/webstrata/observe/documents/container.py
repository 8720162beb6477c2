"""`ZipContainer`: the members of a ZIP file, read with limits on their number and size.

Office files and EPUBs are ZIP files. A decompression bomb is refused before it fills the memory: the sizes in the
directory are not trusted, the decompressed bytes are counted.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""Of all members that are read."""
_MAX_RATIO = 1000
_RATIO_FREE_BYTES = 1024 * 1024
_PIECE = 1024 * 1024

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others (bzip2, LZMA) are rare, and their memory is not limited."""
_ENCRYPTED = 0x1
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    RuntimeError,  # includes NotImplementedError
    OverflowError,
)


class ContainerError(ValueError):
    """The container cannot be read, or exceeds a limit; the message is the reason."""


class ZipContainer:
    """An open ZIP file. Raises `ContainerError` if it cannot be opened or a member cannot be read."""

    def __init__(self, body: bytes) -> None:
        try:
            self._file = zipfile.ZipFile(BytesIO(body))
            members = self._file.infolist()
        except _ZIP_ERRORS as error:
            raise ContainerError(f"not a ZIP file: {error}") from None
        if len(members) > MAX_MEMBERS:
            raise ContainerError(f"more than {MAX_MEMBERS} members")
        self._members = {member.filename: member for member in members if not member.is_dir()}
        self._total = 0
        self._limit = max(_RATIO_FREE_BYTES, min(MAX_TOTAL_BYTES, _MAX_RATIO * len(body)))

    @property
    def names(self) -> list[str]:
        """The names of the members that are files, sorted."""
        return sorted(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The decompressed content of a member."""
        member = self._members.get(name)
        if member is None:
            raise ContainerError(f"no member {name[:100]!r}")
        if member.flag_bits & _ENCRYPTED:
            raise ContainerError("encrypted")
        if member.compress_type not in _METHODS:
            raise ContainerError(f"a member is compressed by method {member.compress_type}")
        pieces: list[bytes] = []
        size = 0
        try:
            with self._file.open(member) as stream:
                while piece := stream.read(_PIECE):
                    size += len(piece)
                    self._total += len(piece)
                    if size > MAX_MEMBER_BYTES or self._total > self._limit:
                        raise ContainerError("its members decompress to more than is allowed")
                    pieces.append(piece)
        except ContainerError:
            raise
        except _ZIP_ERRORS as error:
            raise ContainerError(f"a member is broken: {error}") from None
        return b"".join(pieces)
