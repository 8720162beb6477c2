"""Packages of captures for tests of the verifier: an honest one, and the same with altered files, signed again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from tests.archive.conftest import START_AT, make_capture, open_archive, original_of, revisit_of
from webstrata.archive.export import ExportedRecords, OpenArchive, Selection, selected_records
from webstrata.archive.wacz.pages import PackagePages
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.wacz.writer import CERTIFICATE, PackageOrder, write_wacz
from webstrata.clock import iso
from webstrata.flows.crawl.content_layers import content_layers
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.signer_check import TrustOptions
from webstrata.flows.verify.verification import verify
from webstrata.observe.html.page_text import page_text
from webstrata.observe.page import observe
from webstrata.records import Original
from webstrata.sharp.proof.capture_outcome import PageHistory, capture_outcome
from webstrata.sharp.proof.certificate import (
    CapturePolicy,
    CertifiedCapture,
    ChainLink,
    ObservedUrl,
    PackedArchive,
    certify,
    encoded,
)
from webstrata.sharp.proof.page_observation import ObservationKind, PageObservation
from webstrata.sharp.proof.signature import PackageSigner, new_key

SITE = "http://example.com"
HOME, A, B, GONE, OLD, STYLE, ROBOTS, DOWN = (
    f"{SITE}/{name}" for name in ("", "a", "b", "gone", "old", "s.css", "robots.txt", "down")
)
KINDS: dict[int, ObservationKind] = {200: "content", 301: "redirect", 404: "absent", 500: "error"}
TEXT = "<p>This is a text of more than one hundred bytes, so that nobody calls this page a shell of scripts, ever.</p>"
SIGNER = PackageSigner(new_key())

Files = dict[str, bytes]


class Sent(NamedTuple):
    """A response of a server."""

    url: str
    after_s: float
    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/html; charset=utf-8"


def page(text: str, head: str = "") -> bytes:
    return f"<html><title>{text}</title>{head}<body><h1>{text}</h1>{TEXT}</body></html>".encode()


_STYLED = page("home", '<link rel="stylesheet" href="/s.css"><script src="/x.js"></script>')
RESPONSES = (
    Sent(ROBOTS, 0, b"User-agent: *\n", content_type="text/plain"),
    Sent(HOME, 1, _STYLED),
    Sent(B, 2, page("b")),
    Sent(OLD, 3, b"", 301, (("Location", "/a"),)),
    Sent(A, 4, page("a"), headers=(("Age", "7"), ("X-Cache", "HIT"))),
    Sent(GONE, 5, b"no", 404),
    Sent(A, 20, page("a").replace(b"</body>", b"<!-- another comment --></body>")),
    Sent(OLD, 21, b"", 301, (("Location", "/a"),)),
    Sent(B, 22, b"failed", 500),
    Sent(HOME, 23, _STYLED),
    Sent(GONE, 24, b"no", 404),
    Sent(B, 25, page("b")),
    Sent(STYLE, 30, b"p{}", 200, (("Last-Modified", "Tue, 01 Sep 2026 00:00:00 GMT"),), "text/css"),
)
"""Visits, then revisits. The revisit of b failed at first: b is blurred. `old` redirects to a, which a cache sent."""


def _head(sent: Sent) -> bytes:
    lines = [f"HTTP/1.1 {sent.status} Text", f"Content-Type: {sent.content_type}"]
    lines += [f"{name}: {value}" for name, value in sent.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _observation(sent: Sent, record: str, payload: str) -> PageObservation:
    kind = KINDS[sent.status]
    at = round(START_AT + sent.after_s, 6)
    headers = dict(sent.headers)
    fields: dict[str, Any] = {}
    if kind == "content":
        observed = observe(sent.body, sent.content_type, sent.url)
        layers = content_layers(sent.body, sent.content_type, observed.fingerprint)
        fields = {"layers": layers.digests, "script_shell": layers.script_shell}
    return PageObservation(
        started=at,
        ended=at + 0.5,
        kind=kind,
        status=sent.status,
        record=record,
        payload=payload,
        content_type=sent.content_type,
        target=A if kind == "redirect" else "",
        why="status 500" if kind == "error" else "",
        age_s=int(headers["Age"]) if "Age" in headers else None,
        cache="X-Cache: HIT" if "X-Cache" in headers else "",
        last_modified=1_788_220_800.0 if "Last-Modified" in headers else None,
        **fields,
    )


async def _archived(folder: Path, responses: tuple[Sent, ...]) -> dict[str, list[PageObservation]]:
    archive = open_archive(folder)
    originals: dict[str, Original] = {}
    seen: dict[str, list[PageObservation]] = {}
    for sent in responses:
        options: dict[str, Any] = {"status": sent.status, "response_head": _head(sent), "duration_s": 0.5}
        at = START_AT + sent.after_s
        capture = make_capture(sent.url, sent.body, at, **options)
        if sent.body and capture.payload in originals:
            capture = revisit_of(originals[capture.payload], sent.body, at, url=sent.url, **options)
        (position,) = await archive.append([capture])
        originals.setdefault(capture.payload, original_of(capture, position))
        seen.setdefault(sent.url, []).append(_observation(sent, position.record_id, capture.payload))
    await archive.close()
    return seen


def make_package(folder: Path, *, responses: tuple[Sent, ...] = RESPONSES, layer: str = "visible") -> Path:
    """The signed package of a capture of five pages, one of them unreachable, with a style sheet and robots.txt."""
    seen = asyncio.run(_archived(folder, responses))
    failed = PageObservation(started=START_AT + 6, ended=START_AT + 7, kind="failure", why="refused")
    seen[DOWN] = [failed]
    histories = [
        PageHistory(
            url=url, rate_per_s=1e-6, expected=0.5, observations=seen[url], parts=[STYLE] if url == HOME else []
        )
        for url in seen
        if url not in (STYLE, ROBOTS)
    ]
    subject = CertifiedCapture(
        capture="c1",
        software="webstrata/0.1",
        title="A test",
        site=SITE,
        policy=CapturePolicy(
            algorithm="optimal", layer=layer, tau=0.9, delay_s=1.0, scope="host", seeds=(HOME,), reversion=0.02
        ),
        histories=histories,
        outcome=capture_outcome(histories, layer),
        requisites=[ObservedUrl(url=url, observations=tuple(seen[url])) for url in (STYLE,) if url in seen],
        others=[ObservedUrl(url=url, observations=tuple(seen[url])) for url in (ROBOTS,) if url in seen],
    )
    source = OpenArchive(folder / "archive", folder / "index")

    def certificate(records: ExportedRecords, files: dict[str, str]) -> bytes:
        packed = PackedArchive(records=records.digests, captures=records.captures, files=files)
        return encoded(certify(subject, packed, ChainLink(), issued=START_AT + 60))

    out = folder / "site.wacz"
    records = selected_records(source.index, source.reader, Selection())
    order = PackageOrder(
        software="webstrata/0.1",
        title="A test",
        pages=PackagePages(seeds=(HOME,), pages={one.url for one in histories}, describe=page_text),
        certify=certificate,
        sign=lambda digest, created: SIGNER.signed_data(digest, created, "webstrata/0.1"),
    )
    write_wacz(source, records, out, order, now=lambda: START_AT + 60)
    source.close()
    return out


def repacked(
    path: Path,
    alter: Callable[[dict[str, Any]], object] | None = None,
    files: Mapping[str, bytes] | None = None,
    *,
    signer: PackageSigner = SIGNER,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write a package again: with other files, an altered certificate that names them, and a new signature."""
    with ZipFile(path) as package:
        kept = {name: package.read(name) for name in package.namelist() if not name.startswith("datapackage")}
    kept |= files or {}
    certificate = json.loads(kept.pop(CERTIFICATE))
    certificate["archive"]["files"] = {name: _digest(data) for name, data in kept.items()}
    if alter is not None:
        alter(certificate)
    kept[CERTIFICATE] = encoded(certificate)
    description = {
        "profile": "data-package",
        "resources": [
            {"name": name.rpartition("/")[2], "path": name, "hash": _digest(data), "bytes": len(data)}
            for name, data in kept.items()
        ],
        "wacz_version": "1.1.1",
        "title": "A test",
        "mainPageUrl": HOME,
        "created": iso(float(int(START_AT) + 60)),
    } | dict(about or {})
    kept["datapackage.json"] = json.dumps(description).encode()
    digest = _digest(kept["datapackage.json"])
    signed = signer.signed_data(digest, float(int(START_AT) + 60), "webstrata/0.1")
    document = {"path": "datapackage.json", "hash": digest, "signedData": signed}
    kept["datapackage-digest.json"] = json.dumps(document).encode()
    with ZipFile(path, "w", ZIP_STORED) as package:
        for name, data in kept.items():
            package.writestr(ZipInfo(name), data)
    return path


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def contents(path: Path) -> Files:
    with ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def certificate_of(path: Path) -> dict[str, Any]:
    return dict(json.loads(contents(path)[CERTIFICATE]))


def failures(path: Path, **options: Any) -> list[FailedCheck]:
    with WaczReader(path) as package:
        return list(verify(package, TrustOptions(**options)).failures)


def entry(certificate: dict[str, Any], url: str) -> dict[str, Any]:
    lists = (*certificate["pages"], *certificate["requisites"], *certificate["others"])
    return next(dict_ for dict_ in lists if dict_["url"] == url)
