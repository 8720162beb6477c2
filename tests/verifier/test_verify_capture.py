"""The readers of the second verifier: ZIP, gzip, WARC, content codings, time stamps, index keys, URLs; its verdicts."""

from __future__ import annotations

import gzip
import io
import json
import mmap
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from webstrata import urls
from webstrata.verifier import verify_capture
from webstrata.verifier.verify_capture import (
    absolute,
    check,
    digest_like,
    fits,
    judge,
    members,
    parsed,
    stamped,
    unzip,
    warc_record,
    without_codings,
)

UNREADABLE = (ValueError, struct.error)
CASES = Path(__file__).parent.parent / "data" / "conformance"


def mapped(data: bytes) -> mmap.mmap:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def zipped(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, data in files:
            with package.open(zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6)), "w", force_zip64=True) as entry:
                entry.write(data)
    return out.getvalue()


GOOD = zipped(("a/one.txt", b"first"), ("two.txt", b"second"), ("three.txt", b""))


def test_a_zip_file() -> None:
    """Stored files are read as they are."""
    found = {name: bytes(data) for name, data in unzip(mapped(GOOD)).items()}
    assert found == {"a/one.txt": b"first", "two.txt": b"second", "three.txt": b""}


def test_every_flipped_bit_of_a_zip_file_is_an_error() -> None:
    """There is no bit of the ZIP structure or of the contents that can be altered."""
    for at in range(8 * len(GOOD)):
        data = bytearray(GOOD)
        data[at // 8] ^= 1 << at % 8
        with pytest.raises(UNREADABLE):
            unzip(mapped(bytes(data)))


@pytest.mark.parametrize(
    "data",
    [
        b"x" + GOOD,
        GOOD + b"x",
        GOOD[:-1],
        GOOD[:30],
        zipped(("../x", b"")),
        zipped(("a", b"1"), ("A", b"2")),
        zipped(("pages/ü", b"1")),
    ],
    ids=["prefix", "trailing byte", "cut", "very short", "folder above", "case", "not ASCII"],
)
def test_zip_files_that_are_refused(data: bytes) -> None:
    """Bytes that a reader could interpret in two ways are an error."""
    with pytest.raises(UNREADABLE):
        unzip(mapped(data))


def test_gzip_members_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that grows too much, and one that is not complete, end the reading with an error."""
    data = gzip.compress(b"one") + gzip.compress(b"two")
    assert [(offset, plain) for offset, _, plain in members(memoryview(data))] == [
        (0, b"one"),
        (len(data) // 2, b"two"),
    ]
    for broken in (data[:-1], data + b"x", data[:15] + b"\xff" + data[16:]):
        with pytest.raises((ValueError, zlib.error)):
            list(members(memoryview(broken)))
    monkeypatch.setattr(verify_capture, "FREE_GROWTH", 1 << 16)
    with pytest.raises(ValueError, match="too large"):
        list(members(memoryview(gzip.compress(bytes(1 << 20)))))


@pytest.mark.parametrize(
    "record",
    [
        b"WARC/1.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 3\r\n\r\nab\r\n\r\n",
        b"WARC/1.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 1\r\n\r\nab\r\n\r\n",
        b"WARC/1.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab\r\n\r\n",
        b"WARC/1.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 2\r\n\r\nab\r\n\r\nmore",
        b"WARC/1.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: -2\r\n\r\nab\r\n\r\n",
        b"WARC/3.1\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 2\r\n\r\nab\r\n\r\n",
    ],
)
def test_records_that_are_refused(record: bytes) -> None:
    """The stated length is the length; a field is not repeated; nothing follows."""
    with pytest.raises(ValueError, match="record"):
        warc_record(record)


TEXT = b"the words of a page, again and again " * 50
CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]),
    "deflate": zlib.compress(TEXT),
    "br": brotli.compress(TEXT),
    "zstd": zstandard.compress(TEXT),
    "gzip, br": brotli.compress(gzip.compress(TEXT)),
    "identity": TEXT,
    "unheard-of": TEXT,
    "GZIP ": gzip.compress(TEXT),
}


@pytest.mark.parametrize("coding", CODED)
def test_content_codings(coding: str) -> None:
    """Content codings are removed; a body that is not coded as stated stays as it is."""
    assert without_codings(CODED[coding], coding) == TEXT
    assert without_codings(TEXT, coding) == TEXT


def test_raw_deflate() -> None:
    """`deflate` may be a bare stream."""
    packed = zlib.compressobj(wbits=-15)
    assert without_codings(packed.compress(TEXT) + packed.flush(), "deflate") == TEXT


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without brotli, a page in that coding cannot be confirmed, and the message says what to install."""
    monkeypatch.setitem(sys.modules, "brotli", None)
    with pytest.raises(LookupError, match="install the Python package brotli"):
        without_codings(CODED["br"], "br")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_content_coding_bomb(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that grows beyond the limit is an error."""
    monkeypatch.setattr(verify_capture, "MOST_RECORD", 1 << 16)
    compress = {"gzip": gzip.compress, "br": brotli.compress, "zstd": zstandard.compress}[coding]
    with pytest.raises(ValueError, match="too large"):
        without_codings(compress(bytes(1 << 20)), coding)


def test_digests() -> None:
    """Digests are computed in the stated form; weak algorithms are refused."""
    assert digest_like("sha1:…", b"") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert digest_like("sha256:" + "0" * 64, b"").startswith("sha256:e3b0c44298fc")
    with pytest.raises(ValueError, match="another kind"):
        digest_like("md5:…", b"")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "[1.5]", "[NaN]", "[1e3]"])
def test_json_that_is_refused(text: str) -> None:
    """Programs read repeated names and fractional numbers differently."""
    with pytest.raises(ValueError, match="JSON"):
        parsed(text.encode())


def test_index_keys() -> None:
    """Every SURT of the published cases fits its URL, and no key fits a URL of another case."""
    cases = [case for case in json.loads((CASES / "surt" / "cases.json").read_bytes()) if case["op"] == "surt"]
    sites = (
        "http://a.example/",
        "https://www.b.example:8443/p/q?y=2&x=1",
        "http://c.example:80/A%20b",
        "https://d.example/x?",
    )
    addresses = [case["input"] for case in cases if str(case["input"]).startswith(("http://", "https://"))]
    usual = [url for url in (*addresses, *sites) if "@" not in url and urls.join(url, "") == url]
    assert len(usual) > 8
    for url in usual:
        assert fits(urls.surt(url), url), url
        for other in sites:
            assert fits(urls.surt(url), other) == (urls.surt(url) == urls.surt(other)), (url, other)


def test_redirect_targets() -> None:
    """The target of a redirect is the URL that the WHATWG standard gives, for usual Location headers."""
    base = "https://example.org/a/b?q"
    for location in (
        "c",
        "/c",
        "../c",
        "?x=1",
        "//other.example/p",
        "https://EXAMPLE.org:443/x#y",
        "/a b",
        "/ü",
        ".",
        "",
    ):
        sent = location.encode().decode("latin-1")
        assert absolute(base, sent) == (urls.join(base, location) if location else None), location
    assert absolute(base, "mailto:a@example.org") is None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_time_stamps(tmp_path: Path) -> None:
    """A response of OpenSSL's authority is of its content only; a truncated one is an error."""
    (tmp_path / "c").write_text(
        f"[tsa]\ndefault_tsa=m\n[m]\nserial={tmp_path}/n\nsigner_digest=sha256\ndefault_policy=1.2.3\ndigests=sha256\n"
        "ess_cert_id_alg=sha256\n[x]\nextendedKeyUsage=critical,timeStamping\n[req]\ndistinguished_name=d\n[d]\n"
    )
    (tmp_path / "n").write_text("01\n")
    (tmp_path / "content").write_bytes(b"a signature")
    for words in (
        "req -x509 -newkey rsa:2048 -nodes -config c -extensions x -subj /CN=a -days 9 -keyout k -out p",
        "ts -query -data content -sha256 -no_nonce -out q",
        "ts -reply -config c -queryfile q -signer p -inkey k -out r",
    ):
        subprocess.run(["openssl", *words.split()], cwd=tmp_path, check=True, capture_output=True)
    response = (tmp_path / "r").read_bytes()
    at = stamped(response, b"a signature")
    assert at is not None
    assert abs(datetime.now(UTC) - at) < timedelta(hours=1)
    assert stamped(response, b"another signature") is None
    with pytest.raises((ValueError, LookupError)):
        stamped(response[:60], b"a signature")


def seen(*spans: tuple[int, int, str, str]) -> list[dict[str, object]]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        {
            "started": (at + timedelta(seconds=start)).isoformat(),
            "ended": (at + timedelta(seconds=end)).isoformat(),
            "status": 200,
            "kind": kind,
            "target": content,
            "layers": {"raw": content},
        }
        for start, end, kind, content in spans
    ]


INSTANT = {"from": "2026-01-01T00:00:10+00:00", "to": "2026-01-01T00:00:20+00:00"}
BEFORE, AFTER = (1, 2, "content", "x"), (30, 31, "content", "x")


@pytest.mark.parametrize(
    ("spans", "verdict"),
    [
        ((BEFORE, AFTER), "sharp"),
        ((BEFORE, (12, 13, "content", "x"), AFTER), "sharp"),
        ((BEFORE, (12, 13, "content", "y"), AFTER), "blurred"),
        ((BEFORE, (5, 6, "error", ""), AFTER), "blurred"),
        ((BEFORE, (12, 13, "failure", ""), AFTER), "blurred"),
        (((1, 2, "error", ""), (3, 4, "content", "x"), AFTER), "sharp"),
        (((10, 20, "content", "x"),), "sharp"),
        (((10, 19, "content", "x"),), "blurred"),
        (((10, 20, "absent", ""),), "absent"),
        (((1, 2, "absent", ""), (30, 31, "absent", "")), "absent"),
        (((1, 2, "absent", ""), (30, 31, "failure", "")), "error"),
        (((1, 2, "failure", ""), (30, 31, "failure", "")), "unreachable"),
        ((BEFORE,), "blurred"),
        ((), "unvisited"),
        (((1, 2, "redirect", "u"), (30, 31, "redirect", "u")), "sharp"),
        (((1, 2, "redirect", "u"), (30, 31, "redirect", "v")), "blurred"),
    ],
)
def test_verdicts(spans: tuple[tuple[int, int, str, str], ...], verdict: str) -> None:
    """The verdict of a page follows from the observations next to the instant and during it."""
    assert judge(seen(*spans), INSTANT, "visible").verdict == verdict


@given(st.binary(max_size=300))
def test_any_bytes_are_a_report(data: bytes) -> None:
    """A file of any bytes gives a report that is not valid."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        report, failures = check(file.name)
    assert not report["valid"]
    assert failures


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there, or is empty, gives a report that is not valid."""
    (tmp_path / "empty").touch()
    for name in ("missing", "empty"):
        assert not check(tmp_path / name)[0]["valid"]


def test_it_shares_no_code() -> None:
    """The program imports nothing of Webstrata, and runs alone."""
    text = Path(verify_capture.__file__).read_text(encoding="utf-8")
    assert "import webstrata" not in text
    assert "from webstrata" not in text
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"compile({text!r}, 'v', 'exec')"], check=False)
    assert done.returncode == 0
