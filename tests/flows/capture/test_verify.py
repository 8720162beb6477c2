"""A certificate is valid for its own WACZ file and not for one that differs by a byte; two verifiers agree."""

from __future__ import annotations

import asyncio
import json
import random
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.archive.conftest import START_AT, make_capture, open_archive, original_of, revisit_of
from webstrata import verifier
from webstrata.archive.export import OpenArchive, Selection, selected_records
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.wacz.writer import write_wacz
from webstrata.errors import ArchiveError
from webstrata.flows.capture.verify import CertificateFault, verify
from webstrata.records import Original, Position
from webstrata.sharp.proof.certificate import CapturedPage, CapturePolicy, Download, certify
from webstrata.sharp.proof.signature import fingerprint, new_key, sign

POLICY = CapturePolicy(
    algorithm="optimal-online",
    tau=0.9,
    delay_s=1.0,
    layer="raw",
    scope="host",
    seeds=("http://example.com/",),
    reversion=0.02,
)
KEY = bytes(range(32))
second_check: Callable[..., tuple[Any, list[str]]] = runpy.run_path(
    str(Path(verifier.__file__).parent / "verify_capture.py")
)["check"]

A, B, M, GONE = (f"http://example.com/{name}" for name in ("a", "b", "middle", "gone"))


def downloads(change: bool) -> list[tuple[str, float, bytes]]:
    """Visits of b and a, one download of the middle page, revisits of a and b; b may have changed."""
    return [
        (B, START_AT, b"<p>b</p>"),
        (A, START_AT + 10, b"<p>a</p>"),
        (M, START_AT + 20, b"<p>middle</p>"),
        (A, START_AT + 30, b"<p>a</p>"),
        (B, START_AT + 40, b"<p>b, changed</p>" if change else b"<p>b</p>"),
    ]


async def archived(folder: Path, seen: list[tuple[str, float, bytes]]) -> tuple[list[Position], list[str]]:
    """Write the downloads to an archive; repeated contents become revisit records."""
    archive = open_archive(folder)
    positions: list[Position] = []
    payloads: list[str] = []
    originals: dict[str, Original] = {}
    for url, at, body in seen:
        capture = make_capture(url, body, at, duration_s=1.0)
        if capture.payload in originals:
            capture = revisit_of(originals[capture.payload], body, at, url=url, duration_s=1.0)
        positions += await archive.append([capture])
        originals.setdefault(capture.payload, original_of(capture, positions[-1]))
        payloads.append(capture.payload)
    await archive.close()
    return positions, payloads


def make_wacz(folder: Path, *, change: bool = False, alter: Callable[[dict[str, Any]], object] | None = None) -> Path:
    """The WACZ file of a capture of four pages; `alter` changes the certificate before it is signed."""
    seen = downloads(change)
    positions, payloads = asyncio.run(archived(folder, seen))
    by_url: dict[str, list[Download]] = {}
    for i, (url, at, _body) in enumerate(seen):
        by_url.setdefault(url, []).append(
            Download(
                started=at,
                ended=at + 1.0,
                status=200,
                payload=payloads[i],
                content=payloads[i],
                record=positions[i].record_id,
            )
        )
    pages = [
        CapturedPage(url=A, visit=by_url[A][0], revisit=by_url[A][1], rate_per_day=0.5, expected=0.99),
        CapturedPage(url=B, visit=by_url[B][0], revisit=by_url[B][1], rate_per_day=2.0, expected=0.97),
        CapturedPage(url=M, visit=by_url[M][0], expected=1.0),
        CapturedPage(url=GONE, why="connection refused", expected=0.5),
    ]
    source = OpenArchive(folder / "archive", folder / "index")

    def certificate(digests: dict[str, str], files: dict[str, str]) -> bytes:
        document = certify(
            pages, POLICY, capture="c1", software="webstrata/0.1", issued=START_AT + 60, records=digests, files=files
        )
        if alter is not None:
            alter(document)
        return msgspec.json.format(msgspec.json.encode(sign(document, KEY)), indent=1)

    out = folder / "site.wacz"
    records = selected_records(source.index, source.reader, Selection())
    write_wacz(source, records, out, software="webstrata/0.1", at=START_AT + 60, certify=certificate)
    source.close()
    return out


def faults(path: Path, **options: Any) -> list[CertificateFault]:
    with WaczReader(path) as package:
        data = package.certificate()
        return verify(json.loads(data or b"{}"), package, **options)


def certificate_in(path: Path) -> dict[str, Any]:
    with WaczReader(path) as package:
        document: dict[str, Any] = json.loads(package.certificate() or b"{}")["certificate"]
        return document


def test_a_valid_certificate(tmp_path: Path) -> None:
    """All three pages are sharp as of the middle page's download; both verifiers find no fault."""
    path = make_wacz(tmp_path)

    document = certificate_in(path)
    assert document["counts"] == {"pages": 4, "sharp": 3, "blurred": 0, "unreachable": 1, "expected_sharp": "3.46"}
    assert document["instant"]["from"] == document["pages"][2]["visit"]["started"]
    assert faults(path) == []
    assert second_check(str(path))[1] == []


def test_a_change_blurs(tmp_path: Path) -> None:
    """The page that changed is blurred, the others are sharp, and the certificate is valid."""
    path = make_wacz(tmp_path, change=True)

    assert [page["verdict"] for page in certificate_in(path)["pages"]] == ["sharp", "blurred", "sharp", "unreachable"]
    assert faults(path) == []
    assert second_check(str(path))[1] == []


def test_every_altered_byte_is_detected(tmp_path: Path) -> None:
    """Both verifiers detect one altered byte anywhere in the WACZ file."""
    path = make_wacz(tmp_path)
    whole = path.read_bytes()
    rng = random.Random(7)
    offsets = sorted(rng.sample(range(len(whole)), 400))
    for offset in offsets:
        altered = bytearray(whole)
        altered[offset] ^= 1 << rng.randrange(8)
        path.write_bytes(altered)
        assert _has_faults(path), offset
        assert second_check(str(path))[1], offset


def _has_faults(path: Path) -> bool:
    try:
        return bool(faults(path))
    except (ArchiveError, ValueError):  # not a WACZ file, or no certificate that can be parsed
        return True


def test_missing_bytes_are_detected(tmp_path: Path) -> None:
    """Both verifiers detect a file that is truncated or has more bytes at its end."""
    path = make_wacz(tmp_path)
    whole = path.read_bytes()
    for altered in (whole[:-1], whole + b"\0", whole[: len(whole) // 2], b""):
        path.write_bytes(altered)
        assert _has_faults(path)
        assert second_check(str(path))[1]


def lie_sharp(document: dict[str, Any]) -> None:
    document["pages"][1]["verdict"] = "sharp"
    document["counts"]["sharp"] += 1
    document["counts"]["blurred"] -= 1


def lie_counts(document: dict[str, Any]) -> None:
    document["counts"]["sharp"] += 1


def lie_instant(document: dict[str, Any]) -> None:
    document["instant"]["to"] = document["pages"][0]["revisit"]["ended"]


def lie_record(document: dict[str, Any]) -> None:
    document["pages"][0]["revisit"]["record"] = document["pages"][1]["revisit"]["record"]


def lie_files(document: dict[str, Any]) -> None:
    document["archive"]["files"]["archive/data.warc.gz"] = "sha256:" + "0" * 64


def lie_missing_field(document: dict[str, Any]) -> None:
    del document["pages"][0]["visit"]


@pytest.mark.parametrize("lie", [lie_sharp, lie_counts, lie_instant, lie_record, lie_files, lie_missing_field])
def test_a_signed_lie_is_detected(tmp_path: Path, lie: Callable[[dict[str, Any]], None]) -> None:
    """Both verifiers detect a certificate that does not follow from its archive, though its signature is valid."""
    path = make_wacz(tmp_path, change=True, alter=lie)

    found = faults(path)
    assert found
    assert all(fault.where != "signature" for fault in found)
    assert second_check(str(path))[1]


def test_required_key(tmp_path: Path) -> None:
    """A signature of another key than the required one is a fault."""
    path = make_wacz(tmp_path)
    envelope = sign({}, KEY)
    own, other = envelope["signature"]["fingerprint"], fingerprint(new_key())

    assert faults(path, key=own) == []
    assert second_check(str(path), own)[1] == []
    assert [fault.where for fault in faults(path, key=other)] == ["signature"]
    assert second_check(str(path), other)[1]


def test_the_second_verifier_is_separate() -> None:
    """It has less than 200 lines and imports nothing from Webstrata."""
    text = (Path(verifier.__file__).parent / "verify_capture.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    assert "import webstrata" not in text
    assert "from webstrata" not in text
