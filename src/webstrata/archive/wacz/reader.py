"""Reading of WACZ files from any source: files, records, certificate and faults."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO
from zipfile import ZIP_STORED, ZipFile

from webstrata.archive.wacz.check import SignatureCheck, entry_digest, untrusted_faults
from webstrata.archive.wacz.index_check import INDEX, INDEX_OF_INDEX, index_faults
from webstrata.archive.wacz.kept_records import kept_record
from webstrata.archive.wacz.record_stream import RecordStream, StreamError
from webstrata.archive.wacz.writer import CERTIFICATE
from webstrata.archive.wacz.zip_layout import UNREADABLE, directory_fault, layout_faults
from webstrata.archive.warc.members import MAGIC, DamagedBytes, inflated
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.walk import SUFFIXES, walk
from webstrata.errors import ArchiveError
from webstrata.records import KeptRecord

_READ_BYTES = 1 << 20
MAX_JSON_BYTES = 256 << 20
_LOCAL_BYTES = 30
"""The fixed part of the header before an entry of a ZIP file."""


class WaczReader:
    """The files of a WACZ file with their digests, its records, and its faults."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            fault: object = directory_fault(path)
            if fault is None:
                self._zip = ZipFile(path)
        except UNREADABLE as problem:
            fault = problem
        if fault is not None:
            raise ArchiveError(f"{path} is not a WACZ file ({fault}). Give a file that `webstrata` has written.")

    def close(self) -> None:
        self._zip.close()

    def __enter__(self) -> WaczReader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def read(self, path: str, max_bytes: int = MAX_JSON_BYTES) -> bytes | None:
        """A file of the package; None if it is missing, too large or cannot be read."""
        try:
            with self._zip.open(path) as file:
                data = file.read(max_bytes + 1)
            return data if len(data) <= max_bytes else None
        except (KeyError, *UNREADABLE):
            return None

    def lines(self, path: str, max_line_bytes: int) -> Iterator[bytes]:
        """The lines of a file of the package, cut at a maximum length; none if it cannot be read."""
        with suppress(KeyError, *UNREADABLE), self._zip.open(path) as file:
            while line := file.readline(max_line_bytes):
                yield line

    def certificate(self) -> bytes | None:
        """The certificate; None if this is not the package of a site capture."""
        return self.read(CERTIFICATE)

    def layout_faults(self) -> list[str]:
        """What is wrong with the structure of the ZIP file. Only headers are read."""
        return layout_faults(self.path)

    def sizes(self) -> dict[str, int]:
        """File name -> size, as the directory of the ZIP file states it."""
        return {info.filename: info.file_size for info in self._zip.infolist()}

    def digest(self, path: str) -> str:
        """`sha256:` and the digest of a file; empty if it cannot be read."""
        try:
            return f"sha256:{entry_digest(self._zip, self._zip.getinfo(path), 'sha256')}"
        except (KeyError, *UNREADABLE):
            return ""

    def index_faults(self, lines: list[bytes]) -> list[str]:
        """Differences between the index of the package and the lines of its records."""
        return index_faults(self.read(INDEX), self.read(INDEX_OF_INDEX), lines)

    def require_trusted(self, signature: SignatureCheck | None) -> None:
        """Raise ArchiveError if the signature is wrong or a WARC file is deflated."""
        try:
            fault = next(untrusted_faults(self._zip, signature), None)
        except UNREADABLE as problem:
            fault = f"the ZIP file cannot be read ({problem})"
        if fault is not None:
            raise ArchiveError(
                f"{self.path} is refused: {fault}. Get the file from its source again, or, if you trust what is in it, "
                f"unpack it (`unzip {self.path.name} 'archive/*'`) and give the WARC files."
            )

    def records(self) -> Iterator[tuple[WarcRecord, str] | DamagedBytes]:
        """All records of all archive files, each with the SHA-256 of its uncompressed bytes."""
        for path in self.warcs():
            with self.unpacked(path) as file, file.open("rb") as raw:
                for item in walk(file):
                    if isinstance(item, DamagedBytes):
                        yield item
                        continue
                    raw.seek(item.offset)
                    data = raw.read(item.length)
                    plain = inflated(data) if data.startswith(MAGIC) else data
                    yield item, hashlib.sha256(plain).hexdigest()

    def kept(self) -> Iterator[KeptRecord | str]:
        """The records of all archive files without payloads; a sentence where a file cannot be read any further."""
        for path in self.warcs():
            with self.path.open("rb") as file:
                try:
                    for record in self._stream(file, path).records():
                        yield kept_record(record, path)
                except (StreamError, OSError) as problem:
                    yield f"{path}: {problem}"

    def body(self, record: KeptRecord, max_bytes: int) -> bytes | None:
        """The payload of a record as sent; None if it is larger than that or cannot be read."""
        with self.path.open("rb") as file:
            try:
                return self._stream(file, record.file).body(record.offset, max_bytes)
            except (StreamError, OSError, KeyError):
                return None

    def _stream(self, file: BinaryIO, path: str) -> RecordStream:
        """The records of an archive file, read from the ZIP file itself: nothing is unpacked to disk."""
        entry = self._zip.getinfo(path)
        if entry.compress_type != ZIP_STORED:
            raise StreamError("it is compressed in the ZIP file")
        file.seek(entry.header_offset)
        header = file.read(_LOCAL_BYTES)
        if len(header) < _LOCAL_BYTES:
            raise StreamError("the ZIP file ends before it")
        name_bytes, extra_bytes = header[26] + 256 * header[27], header[28] + 256 * header[29]
        start = entry.header_offset + _LOCAL_BYTES + name_bytes + extra_bytes
        return RecordStream(file, start, entry.file_size)

    def warcs(self) -> list[str]:
        """The names of the archive files in the package."""
        return [name for name in self._zip.namelist() if name.startswith("archive/") and name.endswith(SUFFIXES)]

    @contextmanager
    def unpacked(self, name: str) -> Iterator[Path]:
        """A temporary copy of a file of the package."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / PurePosixPath(name).name
            file.touch()
            try:
                with self._zip.open(name) as packed, file.open("wb") as plain:
                    shutil.copyfileobj(packed, plain, _READ_BYTES)
            except UNREADABLE:
                pass  # the copy holds what could be read; the digest of the file shows that it is incomplete
            yield file
