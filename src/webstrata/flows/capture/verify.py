"""Verifies every statement of a certificate against the WACZ file that contains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.ports import Evidence
from webstrata.records import KeptRecord
from webstrata.sharp.proof.certificate import TYPE, VERSION, records_digest


class CertificateFault(Struct, frozen=True, kw_only=True):
    """A statement of a certificate that is wrong."""

    where: str
    what: str


def verify(
    envelope: Any, evidence: Evidence, *, key: str | None = None, authorities: Sequence[bytes] = ()
) -> list[CertificateFault]:
    """All faults, in order of importance; an empty list means that the certificate is valid.

    `key`: fingerprint of the key that must have signed. `authorities`: root certificates (PEM), one of which must be at
    the root of the chain of a time stamp.
    """
    certificate = envelope.get("certificate") if isinstance(envelope, dict) else None
    if not isinstance(certificate, dict) or certificate.get("type") != TYPE or certificate.get("version") != VERSION:
        return [
            CertificateFault(where="certificate", what=f"it is not a certificate of type {TYPE}, version {VERSION}")
        ]
    faults: list[CertificateFault] = []
    try:
        faults += _archive(certificate, evidence)
        faults += _pages(certificate)
    except (KeyError, TypeError, AttributeError, ValueError, UsageError) as problem:
        faults.append(CertificateFault(where="certificate", what=f"a field is missing or invalid ({problem!r})"))
    return faults


def _archive(certificate: dict[str, Any], evidence: Evidence) -> Iterator[CertificateFault]:
    for fault in evidence.faults():
        yield CertificateFault(where="package", what=fault)
    digests = evidence.digests()
    for path, digest in certificate["archive"]["files"].items():
        if digests.get(path) != digest:
            yield CertificateFault(where=path, what="the file is not the certified one")
    records: dict[str, KeptRecord] = {}
    for record in evidence.kept():
        if isinstance(record, str):
            yield CertificateFault(where="archive", what=record)
            continue
        records[record.record] = record
        for fault in record.faults:
            yield CertificateFault(where=record.record, what=fault)
    sums = {record_id: record.sha256 for record_id, record in records.items()}
    if len(sums) != certificate["archive"]["records"] or records_digest(sums) != certificate["archive"]["sha256"]:
        yield CertificateFault(where="archive", what="the records are not the certified ones")
    for page in certificate["pages"]:
        for end in ("visit", "revisit"):
            if page[end] is not None and (what := _record_fault(page["url"], page[end], records)):
                yield CertificateFault(where=f"{page['url']} ({end})", what=what)


def _record_fault(url: str, download: dict[str, Any], records: dict[str, KeptRecord]) -> str | None:
    """What is wrong with the record of a download; None if the archive contains it as certified."""
    record = records.get(download["record"])
    if record is None:
        return f"its record {download['record']} is not in the archive"
    if record.sha256 != download["record_sha256"]:
        return f"its record {record.record} was altered"
    if record.url != url:
        return f"its record {record.record} is a record of {record.url}"
    if record.payload != download["payload"]:
        return f"its record {record.record} has the payload {record.payload}"
    if record.kind == "revisit" and record.refers_to:
        original = records.get(record.refers_to)
        if original is None or original.payload != record.payload:
            return f"the content that {record.record} refers to is not in the archive"
    return None


def _pages(certificate: dict[str, Any]) -> Iterator[CertificateFault]:
    """Check that the verdicts follow from the downloads, and the counts from the verdicts."""
    instant = certificate["instant"]
    verdicts = [page["verdict"] for page in certificate["pages"]]
    counts = certificate["counts"]
    for verdict in ("sharp", "blurred", "unreachable"):
        if counts[verdict] != verdicts.count(verdict):
            what = f"{counts[verdict]} pages are counted as {verdict}, {verdicts.count(verdict)} have this verdict"
            yield CertificateFault(where="counts", what=what)
    if counts["pages"] != len(verdicts):
        what = f"{counts['pages']} pages are counted, {len(verdicts)} are listed"
        yield CertificateFault(where="counts", what=what)
    for page in certificate["pages"]:
        if page["verdict"] == "sharp" and not (instant and _sharp(page, instant)):
            yield CertificateFault(where=page["url"], what="its verdict is sharp, but its downloads do not prove it")


def _sharp(page: dict[str, Any], instant: dict[str, str]) -> bool:
    visit, revisit = page["visit"], page["revisit"]
    start, end = parse_instant(instant["from"]), parse_instant(instant["to"])
    if visit is None or start > end:
        return False
    if revisit is None:  # downloaded once: the download must be the instant
        return bool(visit["started"] == instant["from"] and visit["ended"] == instant["to"])
    same = visit["content"] == revisit["content"] and visit["status"] == revisit["status"]
    return bool(same and parse_instant(visit["ended"]) <= start and end <= parse_instant(revisit["started"]))
