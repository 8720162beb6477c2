"""Archives: members compared by name and content."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents.samples import zipped
from webstrata.observe.documents.archive_members import archive_digest, archive_members

MEMBERS: dict[str, bytes | str] = {"a.txt": "one", "folder/b.txt": "two"}


def tarred(members: dict[str, bytes | str], *, time: int = 0, owner: int = 0) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uid = len(data), time, owner
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def digest(body: bytes) -> str:
    data = archive_digest(body, None, "")
    assert data.digest is not None, data.note
    return data.digest


def test_what_does_not_count() -> None:
    """Times, owners, order, the compression and the format of the archive do not count."""
    turned = dict(reversed(MEMBERS.items()))
    bodies = [
        zipped(MEMBERS),
        zipped(turned, year=1999, level=1),
        tarred(MEMBERS),
        tarred(turned, time=1_700_000_000, owner=7),
        gzip.compress(tarred(MEMBERS), 1, mtime=1),
        gzip.compress(tarred(MEMBERS), 9, mtime=2),
        tarred({f"./{name}": content for name, content in MEMBERS.items()}),
    ]
    assert len({digest(body) for body in bodies}) == 1


def test_what_counts() -> None:
    """Another content, another name and another member count; so does an archive inside, by its bytes."""
    changed: list[dict[str, bytes | str]] = [
        {**MEMBERS, "a.txt": "1"},
        {"a.md": "one", "folder/b.txt": "two"},
        {**MEMBERS, "c": ""},
    ]
    nested: list[dict[str, bytes | str]] = [{"in.zip": zipped({"x": "1"}, year=year)} for year in (2000, 2001)]
    assert len({digest(zipped(members)) for members in (MEMBERS, *changed, *nested)}) == 6
    assert digest(gzip.compress(b"a", mtime=1)) == digest(gzip.compress(b"a", mtime=2))
    assert digest(gzip.compress(b"a")) != digest(gzip.compress(b"b"))


def test_members_are_fields() -> None:
    """Only the field of the changed member differs."""
    fields = []
    for members in (MEMBERS, {**MEMBERS, "a.txt": "1"}):
        data = archive_digest(zipped(members), None, "")
        assert data.read_fields is not None
        fields.append({field.name: field for field in data.read_fields()})
    assert {name for name in fields[0] if fields[0][name].value != fields[1][name].value} == {"entry:a.txt"}
    assert fields[1]["entry:a.txt"].excerpt == "a.txt, 1 bytes"


def encrypted() -> bytes:
    """A ZIP file whose only member has the flag of encryption, in both of its headers."""
    body = bytearray(zipped({"a": "secret"}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    return bytes(body)


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(f"{number}", bytes(50_000_000))
    return out.getvalue()


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (encrypted(), "encrypted"),
        (bomb(), "decompress"),
        (gzip.compress(bytes(300_000_000), 1, mtime=0), "cut"),
        (zipped({str(number): "" for number in range(20_001)}), "more than 20000 members"),
        (zipped({}), "no members"),
        (zipped(MEMBERS)[:-30], "not a ZIP file"),
        (tarred(MEMBERS)[:600], "not a tar"),
    ],
    ids=["encrypted", "bomb", "gzip bomb", "many members", "empty", "cut ZIP", "cut tar"],
)
def test_archives_that_are_compared_by_bytes(body: bytes, note: str) -> None:
    """Archives that cannot be read, or decompress to too much, have a note."""
    data = archive_digest(body, None, "")
    assert data.digest is None
    assert note in (data.note or "")


@given(st.sampled_from([zipped(MEMBERS), tarred(MEMBERS), gzip.compress(tarred(MEMBERS), mtime=0)]), st.data())
def test_damaged_archives(body: bytes, data: st.DataObject) -> None:
    """A damaged archive has members or a note, and never raises."""
    at = data.draw(st.integers(0, len(body)))
    inserted = data.draw(st.binary(max_size=8))
    damaged = body[:at] + inserted + body[at + len(inserted) :]
    found = archive_digest(damaged, None, "")
    assert (found.digest is None) == (found.note is not None)
    if found.digest is not None:
        assert archive_members(damaged)
