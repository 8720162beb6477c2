"""Archives (.zip, .tar, .tar.gz, .gz) by the names and contents of their members; archives in archives by their bytes.

Times, owners, the order of members and the compression do not count.
"""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from io import BytesIO

from msgspec import Struct

from webstrata.coding import decode
from webstrata.observe.data.data_field import DataField, entry_fields
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.documents.container import ContainerError, ZipContainer

MAX_MEMBERS = 20_000
MAX_BYTES = 256 * 1024 * 1024
"""Decompressed."""
_TAR_MAGIC_AT = 257
_GZIP = b"\x1f\x8b"
_TAR_ERRORS = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError)


class ArchiveMember(Struct, frozen=True, kw_only=True, gc=False):
    """One file in an archive."""

    name: str
    """Empty for the only content of a .gz file."""
    size: int
    digest: str
    """SHA-256 (hex) of its content."""


def archive_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of the members. Never raises."""
    try:
        members = archive_members(body)
    except ContainerError as error:
        return refused("archive", error)
    if not members:
        return refused("archive", "no members")
    parts = [f"{member.name}\0{member.digest}".encode("utf-8", "replace") for member in members]
    return DataDigest(
        kind="archive", digest=digest_of("archive", parts), size=len(members), read_fields=lambda: _fields(members)
    )


def _fields(members: list[ArchiveMember]) -> list[DataField]:
    return entry_fields(
        (member.name, member.digest.encode(), f"{member.name or 'content'}, {member.size:,} bytes")
        for member in members
    )


def archive_members(body: bytes) -> list[ArchiveMember]:
    """The files in an archive, sorted by name. Raises ContainerError."""
    if body.startswith(_GZIP):
        decoded = decode(body, "gzip", max_bytes=MAX_BYTES)
        if decoded.problem is not None and not decoded.problem.startswith("gzip data inside"):
            raise ContainerError(decoded.problem)
        content = decoded.body
        return _tar_members(content) if is_tar(content) else [_member("", content)]
    if is_tar(body):
        return _tar_members(body)
    container = ZipContainer(body)
    return [_member(name, container.read(name)) for name in container.names]


def is_tar(body: bytes) -> bool:
    """Whether a body is a tar archive, of any version since 1988."""
    return body[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar"


def _member(name: str, content: bytes) -> ArchiveMember:
    return ArchiveMember(name=name, size=len(content), digest=hashlib.sha256(content).hexdigest())


def _tar_members(body: bytes) -> list[ArchiveMember]:
    """Links are members whose content is their target. Sparse files, whose size is not limited, are refused."""
    members: list[ArchiveMember] = []
    try:
        with tarfile.open(fileobj=BytesIO(body), mode="r:") as archive:
            for count, info in enumerate(archive):
                if count >= MAX_MEMBERS:
                    raise ContainerError(f"more than {MAX_MEMBERS} members")
                if info.issparse() or info.size > len(body):
                    raise ContainerError("a member is sparse, or longer than the archive")
                if info.isfile():
                    stream = archive.extractfile(info)
                    content = b"" if stream is None else stream.read(len(body))
                    members.append(_member(info.name.removeprefix("./"), content))
                elif not info.isdir():
                    target = f"{info.type!r} {info.linkname}"
                    members.append(_member(info.name.removeprefix("./"), target.encode("utf-8", "surrogateescape")))
    except ContainerError:
        raise
    except _TAR_ERRORS as error:
        raise ContainerError(f"not a tar archive: {error}") from None
    return sorted(members, key=lambda member: (member.name, member.digest))
