"""Check of the observations of a certificate against the records: every field, and both ways.

Every record of a capture must be named by exactly one observation, so that a response cannot be left out. An
observation without a record says that there was no response. Nothing proves it, but it can only make pages less sharp.
"""

from __future__ import annotations

from collections.abc import Iterator

from webstrata.errors import BadUrl
from webstrata.flows.verify.document import DocumentError, observation_of, time_of
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.record_table import RecordTable
from webstrata.flows.verify.response_facts import ResponseFacts, response_facts
from webstrata.records import KeptRecord
from webstrata.sharp.proof.page_observation import PageObservation
from webstrata.sharp.proof.stated_certificate import (
    StatedCertificate,
    StatedObservation,
    StatedPage,
    StatedRequisite,
    StatedUrl,
)
from webstrata.urls import canonical


class ObservationCheck:
    """Checks all observations. `observed` has those of each URL, for the verdicts."""

    def __init__(self, certificate: StatedCertificate, table: RecordTable) -> None:
        self._certificate = certificate
        self._table = table
        self._named: dict[str, str] = {}
        self.observed: dict[str, tuple[PageObservation, ...]] = {}

    def failures(self) -> Iterator[FailedCheck]:
        issued = time_of(self._certificate.issued)
        for entry in self._certificate.entries():
            if entry.url in self.observed:
                yield FailedCheck(page=entry.url, what="the certificate has two entries for this URL")
                continue
            if not _is_canonical(entry.url):
                yield FailedCheck(page=entry.url, what="the URL is not in its canonical form")
            yield from self._entry_failures(entry, issued)
        yield from self._coverage_failures()

    def _entry_failures(self, entry: StatedPage | StatedRequisite | StatedUrl, issued: float) -> Iterator[FailedCheck]:
        try:
            seen = tuple(observation_of(one) for one in entry.observations)
        except DocumentError as problem:
            self.observed[entry.url] = ()
            yield FailedCheck(page=entry.url, what=str(problem))
            return
        self.observed[entry.url] = seen
        starts = [one.started for one in seen]
        if starts != sorted(starts) or any(not one.started <= one.ended <= issued for one in seen):
            yield FailedCheck(page=entry.url, what="its observations are not in the order of time")
        for one in entry.observations:
            for what in self._faults(entry.url, one):
                yield FailedCheck(page=entry.url, what=f"observation of {one.started}: {what}")

    def _faults(self, url: str, seen: StatedObservation) -> Iterator[str]:
        for name in (seen.record, seen.rendered, seen.view):
            if name and name in self._named:
                yield f"its record {name} is that of another observation, of {self._named[name]}"
            elif name:
                self._named[name] = url
        if not seen.record:
            yield from _unproved_faults(seen)
            return
        record = self._table.records.get(seen.record)
        if record is None:
            yield f"its record {seen.record} is not in the package"
            return
        if record.kind not in ("response", "revisit"):
            yield f"its record {seen.record} is not a response"
            return
        yield from _record_faults(url, seen, record)
        facts = response_facts(record, self._table.records)
        yield from _fact_faults(seen, facts)
        if record.is_unmodified and not self._certificate.policy.conditional_requests:
            yield "it is the response to a conditional request, which the policy does not allow"
        for name, scheme in ((seen.rendered, ("urn:dom:", "urn:data:")), (seen.view, ("urn:view:",))):
            if name:
                yield from self._resource_faults(url, seen, name, scheme)

    def _resource_faults(self, url: str, seen: StatedObservation, name: str, schemes: tuple[str, ...]) -> Iterator[str]:
        record = self._table.records.get(name)
        source = self._table.source(record) if record is not None else None
        if record is None or source is None or source.kind != "resource":
            yield f"its record {name} is not in the package, or is not a resource"
        elif record.url not in {scheme + url for scheme in schemes}:
            yield f"its record {name} is of another URL: {record.url}"
        elif record.date != seen.started:
            yield f"its record {name} is of {record.date}"

    def _coverage_failures(self) -> Iterator[FailedCheck]:
        """Every response, revisit and resource is named by an observation, or is the original of a revisit."""
        originals = set(self._certificate.archive.originals)
        referred = {record.refers_to for record in self._table.records.values() if record.kind == "revisit"}
        began = min((one.started for seen in self.observed.values() for one in seen), default=0.0)
        derived = {
            (f"urn:data:{entry.url}", one.started)
            for entry in self._certificate.entries()
            for one in entry.observations
        }
        unnamed = {
            record.record: record
            for record in self._table.captures()
            if record.record not in self._named and (record.url, record.date) not in derived
        }
        for name, record in unnamed.items():
            if name not in originals:
                what = f"the archive has the record {name} of {record.date}, but the certificate leaves it out"
                yield FailedCheck(page=record.url, what=what)
            elif name not in referred or record.kind == "revisit" or not _is_before(record, began):
                what = (
                    f"its record {name} is called an original, but was made in this capture, or no revisit refers to it"
                )
                yield FailedCheck(page=record.url, what=what)
        data = {record.record for record in self._table.captures() if (record.url, record.date) in derived}
        for name in sorted(originals - unnamed.keys() - data):
            yield FailedCheck(page=None, what=f"the original {name[:80]} is not in the package, or is an observation")
        if len(originals) != len(self._certificate.archive.originals):
            yield FailedCheck(page=None, what="an original is named twice")


def _unproved_faults(seen: StatedObservation) -> Iterator[str]:
    """An observation without a record states nothing but a failure."""
    has_fields = seen.status or seen.payload or seen.layers or seen.target or seen.rendered or seen.view
    if seen.kind != "failure" or has_fields:
        yield "it has no record, so it can only be a failure without a response"


def _record_faults(url: str, seen: StatedObservation, record: KeptRecord) -> Iterator[str]:
    if record.url != url:
        yield f"its record {record.record} is a record of {record.url}"
    if record.date != seen.started:
        yield f"its record {record.record} is of {record.date}"
    if record.payload != seen.payload:
        yield f"its record {record.record} has the payload {record.payload}"


def _fact_faults(seen: StatedObservation, facts: ResponseFacts) -> Iterator[str]:
    is_stricter = seen.kind == "error" and facts.kind in ("content", "redirect")
    if seen.kind != facts.kind and not is_stricter:
        yield f"it is called {seen.kind}, but its record shows: {facts.kind}"
    if seen.target != (facts.target if seen.kind == "redirect" else ""):
        yield f"the redirect leads to {facts.target or 'no other URL'}"
    if seen.kind not in ("content", "error") and (seen.layers or seen.script_shell):
        yield "it has layers without a content"
    stated = (seen.status, seen.content_type, seen.age_s, seen.cache, seen.last_modified)
    found = (facts.status, facts.content_type, facts.age_s, facts.cache, facts.last_modified)
    names = ("status", "content type", "age", "cache headers", "time of modification")
    for name, said, is_so in zip(names, stated, found, strict=True):
        if said != is_so:
            yield f"its {name} is {str(is_so)[:200]!r} in the record, {str(said)[:200]!r} in the certificate"


def _is_canonical(url: str) -> bool:
    try:
        return canonical(url) == url
    except BadUrl:
        return False


def _is_before(record: KeptRecord, at: float) -> bool:
    try:
        return time_of(record.date) < at
    except DocumentError:
        return False
