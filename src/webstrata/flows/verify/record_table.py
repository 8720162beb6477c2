"""The records of a package: all of them, each once, with the certified digest, and requests and revisits that fit."""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.ports import Evidence
from webstrata.records import KeptRecord
from webstrata.sharp.proof.certificate import records_digest
from webstrata.sharp.proof.stated_certificate import StatedCertificate

CAPTURES = frozenset({"response", "revisit", "resource"})
_MAX_RECORDS = 2_000_000
_MAX_KEPT_BYTES = 1 << 30
"""For the fields of all records. A record of usual size takes about a kilobyte."""


class RecordTable:
    """The records of all WARC files by their ids, without payloads; `failures` says what is wrong with them."""

    def __init__(self, evidence: Evidence, certificate: StatedCertificate) -> None:
        self.records: dict[str, KeptRecord] = {}
        self.failures: list[FailedCheck] = []
        self.is_complete = True
        """All records could be read."""
        self._read(evidence)
        digests = {name: record.sha256 for name, record in self.records.items()}
        stated = certificate.archive
        if len(digests) != stated.records or records_digest(digests) != stated.sha256:
            self._fail(None, "the records are not the certified ones")
        if self.is_complete:
            lines = [record.index_line for record in self.records.values() if record.index_line]
            self.failures += [FailedCheck(page="indexes/", what=what) for what in evidence.index_faults(lines)]
        for record in self.records.values():
            self.failures += _reference_failures(record, self.records)

    def captures(self) -> Iterator[KeptRecord]:
        """The responses, revisits and resources."""
        return (record for record in self.records.values() if record.kind in CAPTURES)

    def source(self, record: KeptRecord) -> KeptRecord | None:
        """The record that holds the payload: the record itself or, for a revisit, the one to which it refers."""
        if record.kind != "revisit":
            return record
        original = self.records.get(record.refers_to)
        return original if original is not None and original.kind != "revisit" else None

    def _read(self, evidence: Evidence) -> None:
        kept_bytes = 0
        for record in evidence.kept():
            if isinstance(record, str):
                self._fail(None, record)
                self.is_complete = False
                continue
            if record.record in self.records:
                self._fail(record.url or None, f"two records have the id {record.record}")
                continue
            kept_bytes += _size(record)
            if len(self.records) >= _MAX_RECORDS or kept_bytes > _MAX_KEPT_BYTES:
                self._fail(None, "the package has more records than the verifier can keep in memory")
                self.is_complete = False
                return
            self.records[record.record] = record
            for fault in record.faults:
                self._fail(record.url or record.file, f"its record {record.record}: {fault}")

    def _fail(self, page: str | None, what: str) -> None:
        self.failures.append(FailedCheck(page=page, what=what))


def _size(record: KeptRecord) -> int:
    """The memory that a record takes, approximately."""
    texts = (record.url, record.payload, record.content_type, record.refers_to_url, record.concurrent_to)
    headers = sum(len(name) + len(value) for name, value in record.headers)
    return 500 + sum(map(len, texts)) + headers + len(record.index_line)


def _reference_failures(record: KeptRecord, records: dict[str, KeptRecord]) -> Iterator[FailedCheck]:
    """What a request or a revisit says about another record must be true: readers find the other one by it."""
    if record.kind == "request":
        answer = records.get(record.concurrent_to)
        if answer is None or answer.kind not in CAPTURES or (answer.url, answer.date) != (record.url, record.date):
            yield FailedCheck(
                page=record.url, what=f"its request {record.record} belongs to no response of the package"
            )
    if record.kind != "revisit":
        return
    original = records.get(record.refers_to)
    if original is None or original.kind not in ("response", "resource"):
        yield FailedCheck(page=record.url, what=f"the content that {record.record} refers to is not in the package")
        return
    said = (record.payload, record.refers_to_url, record.refers_to_date)
    if said != (original.payload, original.url, original.date) or _at(original) > _at(record):
        what = f"{record.record} refers to {original.record}, but states another digest, URL or date of it"
        yield FailedCheck(page=record.url, what=what)
    if record.is_unmodified and (original.url != record.url or record.status != 304):
        yield FailedCheck(page=record.url, what=f"{record.record} says that another URL is unmodified")


def _at(record: KeptRecord) -> float:
    try:
        return parse_instant(record.date)
    except UsageError:
        return 0.0
