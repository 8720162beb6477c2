"""Is a certificate true to its archive? Everything it says is checked; each thing that fails is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.ports import Evidence
from webstrata.records import KeptRecord
from webstrata.sharp.proof.certificate import TYPE, VERSION, whole
from webstrata.sharp.proof.signature import signature_fault
from webstrata.sharp.proof.timestamp import timestamp_fault


class CertificateFault(Struct, frozen=True, kw_only=True):
    """One thing that does not hold."""

    where: str
    what: str


def verify(
    envelope: Any, evidence: Evidence, *, key: str | None = None, authorities: Sequence[bytes] = ()
) -> list[CertificateFault]:
    """All that fails, in the order in which a reader would want to know it; nothing: the certificate holds.

    `key`: fingerprint that must have signed; `authorities`: certificates (PEM) that a time stamp must lead back to.
    """
    certificate = envelope.get("certificate") if isinstance(envelope, dict) else None
    if not isinstance(certificate, dict) or certificate.get("type") != TYPE or certificate.get("version") != VERSION:
        return [
            CertificateFault(where="certificate", what=f"it is no certificate of the kind {TYPE}, version {VERSION}")
        ]
    faults: list[CertificateFault] = []
    if fault := signature_fault(envelope, key):
        faults.append(CertificateFault(where="signature", what=fault))
    if "timestamp" in envelope and (fault := timestamp_fault(envelope, authorities)):
        faults.append(CertificateFault(where="timestamp", what=fault))
    try:
        faults += _archive(certificate, evidence)
        faults += _pages(certificate)
    except (KeyError, TypeError, AttributeError, ValueError, UsageError) as problem:
        faults.append(
            CertificateFault(where="certificate", what=f"a field is missing or not what it should be ({problem!r})")
        )
    return faults


def _archive(certificate: dict[str, Any], evidence: Evidence) -> Iterator[CertificateFault]:
    for fault in evidence.faults():
        yield CertificateFault(where="package", what=fault)
    digests = evidence.digests()
    for path, digest in certificate["archive"]["files"].items():
        if digests.get(path) != digest:
            yield CertificateFault(where=path, what="the file is not the one that was certified")
    kept: dict[str, KeptRecord] = {}
    for one in evidence.kept():
        if isinstance(one, str):
            yield CertificateFault(where="archive", what=one)
            continue
        kept[one.record] = one
        for fault in one.faults:
            yield CertificateFault(where=one.record, what=fault)
    sums = {name: one.sha256 for name, one in kept.items()}
    if len(sums) != certificate["archive"]["records"] or whole(sums) != certificate["archive"]["sha256"]:
        yield CertificateFault(where="archive", what="the records are not those that were certified")
    for page in certificate["pages"]:
        for end in ("visit", "revisit"):
            if page[end] is not None and (what := _record_fault(page["url"], page[end], kept)):
                yield CertificateFault(where=f"{page['url']} ({end})", what=what)


def _record_fault(url: str, download: dict[str, Any], kept: dict[str, KeptRecord]) -> str | None:
    """Does the archive hold this download as certified?"""
    found = kept.get(download["record"])
    if found is None:
        return f"its record {download['record']} is not in the archive"
    if found.sha256 != download["record_sha256"]:
        return f"its record {found.record} was altered"
    if found.url != url:
        return f"its record {found.record} is of {found.url}"
    if found.payload != download["payload"]:
        return f"its record {found.record} has the payload {found.payload}"
    if found.kind == "revisit" and found.refers_to:
        original = kept.get(found.refers_to)
        if original is None or original.payload != found.payload:
            return f"the content that {found.record} refers to is not in the archive"
    return None


def _pages(certificate: dict[str, Any]) -> Iterator[CertificateFault]:
    """Do the verdicts follow from the downloads, and the counts from the verdicts?"""
    instant = certificate["instant"]
    verdicts = [page["verdict"] for page in certificate["pages"]]
    counts = certificate["counts"]
    for verdict in ("sharp", "blurred", "unreachable"):
        if counts[verdict] != verdicts.count(verdict):
            yield CertificateFault(
                where="counts", what=f"{counts[verdict]} pages are said to be {verdict}, {verdicts.count(verdict)} are"
            )
    if counts["pages"] != len(verdicts):
        yield CertificateFault(
            where="counts", what=f"{counts['pages']} pages are said to be listed, {len(verdicts)} are"
        )
    for page in certificate["pages"]:
        if page["verdict"] == "sharp" and not (instant and _sharp(page, instant)):
            yield CertificateFault(where=page["url"], what="it is called sharp, but its two downloads do not show it")


def _sharp(page: dict[str, Any], instant: dict[str, str]) -> bool:
    visit, revisit = page["visit"], page["revisit"]
    start, end = parse_instant(instant["from"]), parse_instant(instant["to"])
    if visit is None or start > end:
        return False
    if revisit is None:  # downloaded once: then the download is the instant
        return bool(visit["started"] == instant["from"] and visit["ended"] == instant["to"])
    same = visit["content"] == revisit["content"] and visit["status"] == revisit["status"]
    return bool(same and parse_instant(visit["ended"]) <= start and end <= parse_instant(revisit["started"]))
