"""A certificate holds for its own WACZ and for nothing that differs from it by one byte; two verifiers agree."""

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
check_alone: Callable[..., tuple[Any, list[str]]] = runpy.run_path(
    str(Path(verifier.__file__).parent / "verify_capture.py")
)["check"]

A, B, M, GONE = (f"http://example.com/{name}" for name in ("a", "b", "middle", "gone"))


def downloads(change: bool) -> list[tuple[str, float, bytes]]:
    """Visits of b, a, the middle page once, revisits of a and b; b may have changed."""
    return [
        (B, START_AT, b"<p>b</p>"),
        (A, START_AT + 10, b"<p>a</p>"),
        (M, START_AT + 20, b"<p>middle</p>"),
        (A, START_AT + 30, b"<p>a</p>"),
        (B, START_AT + 40, b"<p>b, changed</p>" if change else b"<p>b</p>"),
    ]


async def archived(folder: Path, seen: list[tuple[str, float, bytes]]) -> tuple[list[Position], list[str]]:
    """One by one into an archive; a content that was there before becomes a revisit record."""
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
    """A capture of four pages, certified and packed; `alter` makes a liar sign something else."""
    seen = downloads(change)
    positions, payloads = asyncio.run(archived(folder, seen))
    made: dict[str, list[Download]] = {}
    for i, (url, at, _body) in enumerate(seen):
        made.setdefault(url, []).append(
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
        CapturedPage(url=A, visit=made[A][0], revisit=made[A][1], rate_per_day=0.5, expected=0.99),
        CapturedPage(url=B, visit=made[B][0], revisit=made[B][1], rate_per_day=2.0, expected=0.97),
        CapturedPage(url=M, visit=made[M][0], expected=1.0),
        CapturedPage(url=GONE, why="connection refused", expected=0.5),
    ]
    source = OpenArchive(folder / "archive", folder / "index")

    def certificate(digests: dict[str, str], files: dict[str, str]) -> bytes:
        told = certify(
            pages, POLICY, capture="c1", software="webstrata/0.1", issued=START_AT + 60, records=digests, files=files
        )
        if alter is not None:
            alter(told)
        return msgspec.json.format(msgspec.json.encode(sign(told, KEY)), indent=1)

    out = folder / "site.wacz"
    wanted = selected_records(source.index, source.reader, Selection())
    write_wacz(source, wanted, out, software="webstrata/0.1", at=START_AT + 60, certify=certificate)
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


def test_an_honest_capture_holds(tmp_path: Path) -> None:
    """All three pages are sharp as of the middle page's download; both verifiers say so."""
    path = make_wacz(tmp_path)

    told = certificate_in(path)
    assert told["counts"] == {"pages": 4, "sharp": 3, "blurred": 0, "unreachable": 1, "expected_sharp": "3.46"}
    assert told["instant"]["from"] == told["pages"][2]["visit"]["started"]
    assert faults(path) == []
    assert check_alone(str(path))[1] == []


def test_a_change_blurs(tmp_path: Path) -> None:
    """The page that changed is blurred, the others stay sharp, and the certificate holds."""
    path = make_wacz(tmp_path, change=True)

    assert [page["verdict"] for page in certificate_in(path)["pages"]] == ["sharp", "blurred", "sharp", "unreachable"]
    assert faults(path) == []
    assert check_alone(str(path))[1] == []


def test_every_altered_byte_is_seen(tmp_path: Path) -> None:
    """One byte of the WACZ altered, anywhere: both verifiers refuse."""
    path = make_wacz(tmp_path)
    whole = path.read_bytes()
    rng = random.Random(7)
    places = sorted(rng.sample(range(len(whole)), 400))
    for place in places:
        altered = bytearray(whole)
        altered[place] ^= 1 << rng.randrange(8)
        path.write_bytes(altered)
        assert _refused(path), place
        assert check_alone(str(path))[1], place


def _refused(path: Path) -> bool:
    try:
        return bool(faults(path))
    except (ArchiveError, ValueError):  # no package, or no certificate in it that could be read
        return True


def test_missing_bytes_are_seen(tmp_path: Path) -> None:
    """A file that lost its end, or got more at its end, is refused by both."""
    path = make_wacz(tmp_path)
    whole = path.read_bytes()
    for altered in (whole[:-1], whole + b"\0", whole[: len(whole) // 2], b""):
        path.write_bytes(altered)
        assert _refused(path)
        assert check_alone(str(path))[1]


def lie_sharp(told: dict[str, Any]) -> None:
    told["pages"][1]["verdict"] = "sharp"
    told["counts"]["sharp"] += 1
    told["counts"]["blurred"] -= 1


def lie_counts(told: dict[str, Any]) -> None:
    told["counts"]["sharp"] += 1


def lie_instant(told: dict[str, Any]) -> None:
    told["instant"]["to"] = told["pages"][0]["revisit"]["ended"]


def lie_record(told: dict[str, Any]) -> None:
    told["pages"][0]["revisit"]["record"] = told["pages"][1]["revisit"]["record"]


def lie_files(told: dict[str, Any]) -> None:
    told["archive"]["files"]["archive/data.warc.gz"] = "sha256:" + "0" * 64


def lie_nothing_said(told: dict[str, Any]) -> None:
    del told["pages"][0]["visit"]


@pytest.mark.parametrize("lie", [lie_sharp, lie_counts, lie_instant, lie_record, lie_files, lie_nothing_said])
def test_a_signed_lie_is_seen(tmp_path: Path, lie: Callable[[dict[str, Any]], None]) -> None:
    """A certificate that does not follow from its archive is refused, though its signature is good."""
    path = make_wacz(tmp_path, change=True, alter=lie)

    told = faults(path)
    assert told
    assert all(fault.where != "signature" for fault in told)
    assert check_alone(str(path))[1]


def test_whose_key(tmp_path: Path) -> None:
    """Who asks for a certain key is told when another has signed."""
    path = make_wacz(tmp_path)
    envelope = sign({}, KEY)
    own, other = envelope["signature"]["fingerprint"], fingerprint(new_key())

    assert faults(path, key=own) == []
    assert check_alone(str(path), own)[1] == []
    assert [fault.where for fault in faults(path, key=other)] == ["signature"]
    assert check_alone(str(path), other)[1]


def test_the_second_verifier_is_separate() -> None:
    """It is short enough to be read, and imports nothing of Webstrata."""
    text = (Path(verifier.__file__).parent / "verify_capture.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    assert "import webstrata" not in text
    assert "from webstrata" not in text
