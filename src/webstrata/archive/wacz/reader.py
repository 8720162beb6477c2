"""Reading of WACZ files from any source: files, records, certificate and faults."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZipFile, ZipInfo

from isal import isal_zlib

from webstrata.archive.wacz.check import SignatureCheck, check_wacz, entry_digest, untrusted_faults
from webstrata.archive.wacz.writer import CERTIFICATE
from webstrata.archive.wacz.zip_layout import UNREADABLE, layout_faults
from webstrata.archive.warc.members import MAGIC, DamagedBytes
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.archive.warc.rules import record_faults
from webstrata.archive.warc.walk import SUFFIXES, walk
from webstrata.errors import ArchiveError
from webstrata.records import KeptRecord

_READ_BYTES = 1 << 20
_MAX_JSON_BYTES = 512 << 20
_GZIP = 31


class WaczReader:
    """The files of a WACZ file with their digests, its records, and its faults."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = ZipFile(path)
        except UNREADABLE as problem:
            raise ArchiveError(
                f"{path} is not a WACZ file ({problem}). Give a file that `webstrata` has written."
            ) from None

    def close(self) -> None:
        self._zip.close()

    def __enter__(self) -> WaczReader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def read(self, name: str) -> bytes | None:
        """A file of the package; None if it is missing, too large or cannot be read."""
        try:
            if self._zip.getinfo(name).file_size > _MAX_JSON_BYTES:
                return None
            return self._zip.read(name)
        except (KeyError, *UNREADABLE):
            return None

    def certificate(self) -> bytes | None:
        """The certificate; None if this is not the package of a site capture."""
        return self.read(CERTIFICATE)

    def digests(self) -> dict[str, str]:
        """File name -> SHA-256; empty if the file cannot be read."""
        return {info.filename: self._digest(info) for info in self._zip.infolist() if not info.is_dir()}

    def faults(self) -> list[str]:
        """The contradictions within the package: ZIP layout, list of files, digest of that list."""
        return layout_faults(self.path) + check_wacz(self.path)

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
                    plain = isal_zlib.decompress(data, _GZIP) if data.startswith(MAGIC) else data
                    yield item, hashlib.sha256(plain).hexdigest()

    def kept(self) -> Iterator[KeptRecord | str]:
        """The fields of all records that a certificate covers; a message in place of a damaged record."""
        for item in self.records():
            if isinstance(item, DamagedBytes):
                yield f"at byte {item.offset} of an archive file: {item.what}"
                continue
            record, digest = item
            yield KeptRecord(
                record=record.record_id,
                sha256=digest,
                kind=record.kind,
                url=record.url,
                payload=record.field("warc-payload-digest") or "",
                refers_to=bare_uri(record.field("warc-refers-to") or ""),
                faults=tuple(record_faults(record)),
            )

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

    def _digest(self, entry: ZipInfo) -> str:
        try:
            return f"sha256:{entry_digest(self._zip, entry, 'sha256')}"
        except UNREADABLE:
            return ""
