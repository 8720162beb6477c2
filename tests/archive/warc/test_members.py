from __future__ import annotations

import io
import os
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib

from webstrata.archive.warc.members import DamagedBytes, GzipMember, KeptData, member_at, members

PARTS = [os.urandom(200), b"x" * 300_000, b"", os.urandom(100_000)]
PACKED = [isal_zlib.compress(part, 2, 31) for part in PARTS]
WHOLE = b"".join(PACKED)


def read(data: bytes, **options: Any) -> list[GzipMember | DamagedBytes]:
    return list(members(io.BytesIO(data), **options))


def test_members_and_their_offsets() -> None:
    """Offsets and lengths divide the file into its members."""
    items = read(WHOLE)

    assert [WHOLE[item.offset : item.offset + item.length] for item in items] == PACKED
    assert [item.data for item in items if isinstance(item, GzipMember)] == PARTS


def test_limited_data() -> None:
    """The data of large members can be limited."""
    items = read(WHOLE, kept=KeptData(max_bytes=100))

    assert [item.data for item in items if isinstance(item, GzipMember)] == [part[:100] for part in PARTS]
    assert [item.size for item in items if isinstance(item, GzipMember)] == [len(part) for part in PARTS]


def test_beginning_of_large_members() -> None:
    """Of members that are larger than the limit, less than the limit can be kept."""
    items = read(WHOLE, kept=KeptData(max_bytes=100, of_larger=7))

    kept = [part if len(part) <= 100 else part[:7] for part in PARTS]
    assert [item.data for item in items if isinstance(item, GzipMember)] == kept
    assert [item.size for item in items if isinstance(item, GzipMember)] == [len(part) for part in PARTS]


def test_members_after_damage() -> None:
    """The members after a damaged one are found."""
    data = PACKED[0] + PACKED[3][:500] + b"junk" + PACKED[1] + PACKED[0][:-3]

    kinds = [item.kind if isinstance(item, DamagedBytes) else "whole" for item in read(data)]

    assert kinds == ["whole", "damaged", "whole", "torn"]


def test_member_at_an_offset() -> None:
    """An offset without a member gives damaged bytes, one at the end None."""
    file = io.BytesIO(WHOLE)

    assert isinstance(member_at(file, len(PACKED[0])), GzipMember)
    assert isinstance(member_at(file, 1), DamagedBytes)
    assert member_at(file, len(WHOLE)) is None


@given(data=st.binary(max_size=400), cut=st.integers(0, len(PACKED[0])))
def test_any_bytes(data: bytes, cut: int) -> None:
    """For any bytes, the items cover the file without gaps."""
    given_bytes = data + PACKED[0][cut:] + PACKED[0]

    at = 0
    for item in read(given_bytes):
        assert item.offset == at
        at += item.length
    assert at == len(given_bytes)
