"""Index files as sources of copies: real ones, damaged ones, and any bytes at all."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.history.reading import batches_of, counts_of
from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.history import index_file
from webstrata.history.index_file import IndexFile

NOW = parse_instant("20260101000000")
DATA = Path(__file__).parent.parent / "data" / "cdx"
LINE = "org,a)/{n} 20140103030321 http://a.org/{n} text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A - - 1 2 a.warc\n"
LEGEND = " CDX N b a m s k r M S V g\n"


def _counts(path: Path, content: bytes) -> dict[str, int]:
    path.write_bytes(content)
    return counts_of(batches_of(IndexFile(path, now=NOW)))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("dupes.cdx", {"kept": 11, "error-status": 1}),
        ("dupes.cdxj", {"kept": 11, "error-status": 1}),
        ("example.cdx", {"kept": 2, "error-status": 1}),
        ("example.cdxj", {"kept": 3}),
        ("example-no-digest.cdxj", {"kept": 3}),
        ("post-test.cdx", {"kept": 2, "out-of-order": 1}),
        ("url-agnost-example.cdxj", {"kept": 1, "invalid-url": 1}),
    ],
)
def test_real_indexes(name: str, counts: dict[str, int]) -> None:
    """The index files of pywb's sample archive: CDX and CDXJ of the same records give the same copies."""
    assert counts_of(batches_of(IndexFile(DATA / name, now=NOW))) == counts


def test_copies_of_a_real_index() -> None:
    """A copy has the URL as captured, the second, the digest as visits write it, and the name of the archive."""
    first = batches_of(IndexFile(DATA / "dupes.cdx", now=NOW))[0].copies[0]
    assert first.url == "http://example.com/"
    assert first.at == parse_instant("20140127171200")
    assert first.digest == "sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
    assert (first.archive, first.status, first.links) == ("dupes", 200, None)


@pytest.mark.parametrize("is_gzip", [False, True])
def test_resumed_reading_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_gzip: bool) -> None:
    """From the position of any batch, reading goes on with the same copies, reasons and places."""
    monkeypatch.setattr(index_file, "BATCH_ROWS", 3)
    lines = LEGEND + "".join(LINE.format(n=n % 7) for n in range(20)) + "half a line"
    content = lines.encode()
    path = tmp_path / "a.cdx"
    path.write_bytes(gzip.compress(content[:700]) + gzip.compress(content[700:]) if is_gzip else content)
    batches = batches_of(IndexFile(path, now=NOW))
    assert len(batches) == 7
    assert counts_of(batches) == {"kept": 7, "duplicate": 13, "malformed": 1}
    for index, batch in enumerate(batches):
        assert batches_of(IndexFile(path, now=NOW), batch.position) == batches[index + 1 :]
    assert batches[-1].skipped[-1].where == "a.cdx:22"
    shares = [batch.done for batch in batches]
    assert shares == sorted(shares, key=lambda share: share or 0)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        (b"", {"kept": 0}),
        (b"\n\r\n\n", {"kept": 0}),
        (LEGEND.encode(), {"kept": 0}),
        (b"\xef\xbb\xbf" + LEGEND.encode() + LINE.encode(), {"kept": 1}),
        (LINE.encode().rstrip(), {"kept": 1}),
        (LINE.replace("\n", "\r\n").encode(), {"kept": 1}),
        (LINE.encode()[:60], {"kept": 0, "malformed": 1}),
        (LINE.encode() + b"\x00\x01\x02\xff\n" + LINE.encode(), {"kept": 1, "malformed": 1, "duplicate": 1}),
        (LINE.encode("utf-16"), {"kept": 0, "malformed": 2}),
        (LINE.format(n="\u00fc").encode("latin-1"), {"kept": 0, "malformed": 1}),
        (LINE.format(n="\u00fc").encode(), {"kept": 1}),
        (LINE.replace("{n}", "\0").encode(), {"kept": 0, "malformed": 1}),
        (b"x" * 200_000 + b"\n" + LINE.encode(), {"kept": 1, "malformed": 1}),
        (b"x" * 200_000, {"kept": 0, "malformed": 1}),
        (b"<html><body>Not found</body></html>\n", {"kept": 0, "malformed": 1}),
        (LEGEND.encode() + LINE.encode() + b" CDX b a\n20150103030321 http://b.org/\n", {"kept": 2}),
        (b"!OpenWayback-CDXJ 1.0\n@context []\norg,a)/ 20140103030321 {}\n", {"kept": 1}),
        (gzip.compress(LINE.encode())[:-9], {"kept": 1, "malformed": 1}),
        (gzip.compress(LINE.encode()) + b"\0" * 512, {"kept": 1}),
        (gzip.compress(LINE.encode()) + b"trailing bytes", {"kept": 1}),
        (b"\x1f\x8b\x08 and then text", {"kept": 0, "malformed": 1}),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: bytes, counts: dict[str, int]) -> None:
    """Empty, binary, half-written, wrongly encoded and over-long lines are counted, and the other lines are kept."""
    assert _counts(tmp_path / "a.cdx", content) == counts


def test_damaged_member(tmp_path: Path) -> None:
    """Damage in one gzip member costs its lines; reading goes on at the next one."""
    members = [gzip.compress("".join(LINE.format(n=f"{m}/{n}") for n in range(500)).encode()) for m in range(3)]
    damaged = members[1][:200] + b"\xff" * 50 + members[1][250:]
    counts = _counts(tmp_path / "a.cdx.gz", members[0] + damaged + members[2])
    assert counts["kept"] >= 1000
    assert counts["malformed"] >= 1


def test_damage_without_end(tmp_path: Path) -> None:
    """A file of nothing but beginnings of gzip members is given up after a thousand of them."""
    assert _counts(tmp_path / "a.cdx.gz", b"\x1f\x8b\x08\xff" * 100_000) == {"kept": 0, "malformed": 1001}


def test_many_members(tmp_path: Path) -> None:
    """A gzip member for each line is read like one member, also if zeros stand between members."""
    members = [gzip.compress(LINE.format(n=n).encode()) + b"\0" * (n % 3) for n in range(5000)]
    assert _counts(tmp_path / "a.cdx.gz", b"".join(members)) == {"kept": 5000}


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file and a folder are errors of use."""
    for path in (tmp_path / "missing.cdx", tmp_path):
        with pytest.raises(UsageError, match="cannot read"):
            IndexFile(path, now=NOW)


def test_keys(tmp_path: Path) -> None:
    """The same file has the same key; another content has another one."""
    path = tmp_path / "a.cdx"
    path.write_text("one\n")
    first = IndexFile(path, now=NOW).key
    assert IndexFile(path, now=NOW + 1).key == first
    path.write_text("two\n")
    assert IndexFile(path, now=NOW).key != first


def test_memory_does_not_grow_with_lines(tmp_path: Path) -> None:
    """A line of 64 MB without an end takes no more memory than the limit and a piece of the file."""
    path = tmp_path / "a.cdx.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"x" * 2**20)
    source = IndexFile(path, now=NOW)
    tracemalloc.start()
    try:
        assert counts_of(batches_of(source)) == {"kept": 0, "malformed": 1}
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


@given(
    lines=st.lists(st.binary(max_size=80) | st.sampled_from([LINE.encode(), LEGEND.encode(), b"a b {}\n"]), max_size=8)
)
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    """Whatever a file holds, reading it raises nothing, and every row is kept or has a reason."""
    _counts(tmp_path_factory.mktemp("any") / "a.cdx", b"\n".join(lines))
