"""Check of the layers of all observations: each content is read from its record and parsed again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from webstrata.flows.verify.content_process import ContentProcess
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.recomputed_content import ContentJob, RecomputedContent, stated_rules
from webstrata.flows.verify.record_table import RecordTable
from webstrata.flows.verify.response_facts import content_type_of
from webstrata.ports import Evidence
from webstrata.records import KeptRecord, PageRules
from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedObservation, StatedPage

MAX_BODY_BYTES = 256 * 10**6
"""Of a body as sent; captures keep at most 100 MB by default."""
_PARSED = frozenset({"main", "data", "selected"})
_REQUIRED = frozenset({"raw", "visible_text", "links"})
"""Layers that a certificate must state where they exist. Without one of the others, a stricter one is compared."""


class _Content(NamedTuple):
    """An observation with the record that has its content, and how this is to be parsed."""

    source: KeptRecord
    url: str
    content_type: str
    content_encoding: str | None
    seen: StatedObservation
    page: StatedPage | None
    rules: PageRules | None
    is_visit: bool
    """The first of the two observations by which a page is sharp: its parts are those of the page."""


class ContentCheck:
    """Checks the layers and, of sharp pages, the parts."""

    def __init__(self, certificate: StatedCertificate, table: RecordTable, evidence: Evidence) -> None:
        self._certificate = certificate
        self._table = table
        self._evidence = evidence
        self._archived = {
            entry.url for entry in certificate.entries() if any(seen.record for seen in entry.observations)
        }
        self._rule_failures: list[FailedCheck] = []

    def failures(self, process: ContentProcess) -> Iterator[FailedCheck]:
        """All failures, in the order of the archive: each body is read once and dropped."""
        contents = sorted(self._contents(), key=lambda one: (one.source.file, one.source.offset))
        yield from self._rule_failures
        for source, group in groupby(contents, key=lambda one: one.source):
            body = self._evidence.body(source, MAX_BODY_BYTES)
            known: dict[object, RecomputedContent] = {}
            for one in group:
                if body is None:
                    what = f"the content of {source.record} is larger than {MAX_BODY_BYTES} bytes, or cannot be read"
                    yield FailedCheck(page=one.url, what=what)
                    continue
                job = ContentJob(
                    url=one.url,
                    body=body,
                    content_type=one.content_type,
                    content_encoding=one.content_encoding,
                    rules=one.rules,
                    is_parsed=self._is_parsed(one),
                )
                key = (job.url, job.content_type, job.content_encoding, job.rules, job.is_parsed)
                if key not in known:
                    known[key] = process.recompute(job)
                for what in self._faults(one, known[key]):
                    yield FailedCheck(page=one.url, what=f"observation of {one.seen.started}: {what}")

    def _contents(self) -> Iterator[_Content]:
        for entry in self._certificate.entries():
            page = entry if isinstance(entry, StatedPage) else None
            try:
                rules = stated_rules(page.rules) if page is not None else None
            except ValueError as problem:
                self._rule_failures.append(FailedCheck(page=entry.url, what=str(problem)))
                continue
            for index, seen in enumerate(entry.observations):
                record = self._table.records.get(seen.rendered or seen.record)
                source = self._table.source(record) if record is not None else None
                if record is None or source is None or not (seen.kind == "content" or seen.layers or seen.script_shell):
                    continue
                is_resource = source.kind == "resource"
                yield _Content(
                    source=source,
                    url=entry.url,
                    content_type=record.content_type if is_resource else content_type_of(record, self._table.records),
                    content_encoding=None if is_resource else content_encoding_of(record, source),
                    seen=seen,
                    page=page,
                    rules=rules,
                    is_visit=page is not None and page.verdict == "sharp" and index == page.visit,
                )

    def _is_parsed(self, one: _Content) -> bool:
        """Whether parsers are needed: for their layers, and for parts."""
        needs_parts = one.is_visit and self._certificate.policy.requisites
        return bool(_PARSED & one.seen.layers.keys()) or needs_parts

    def _faults(self, one: _Content, found: RecomputedContent) -> Iterator[str]:
        seen = one.seen
        if found.problem:
            yield f"its content cannot be verified: {found.problem}"
            return
        for name, digest in seen.layers.items():
            if found.layers.get(name) != digest:
                why = "" if found.is_parsed or name in found.layers else " (it cannot be parsed within the limits)"
                yield f"its layer {name!r} is not that of its content{why}"
        for name in sorted(_REQUIRED & found.layers.keys() - seen.layers.keys()):
            if seen.kind == "content":
                yield f"its layer {name!r} is left out"
        if seen.script_shell != found.script_shell and seen.kind == "content":
            yield f"it is {'' if found.script_shell else 'not '}a script shell"
        if one.is_visit and one.page is not None and self._certificate.policy.requisites:
            yield from self._part_faults(one.page, found)

    def _part_faults(self, page: StatedPage, found: RecomputedContent) -> Iterator[str]:
        """Files that the page loads and that are in the archive must be among its parts."""
        missing = (self._archived & set(found.parts)) - set(page.parts) - {page.url}
        for url in sorted(missing):
            yield f"it loads {url}, which is in the archive, but the certificate leaves it out of the page's parts"


def content_encoding_of(record: KeptRecord, source: KeptRecord) -> str | None:
    """The Content-Encoding header; a 304 response has that of the content to which it refers."""
    return source.header("content-encoding") if record.is_unmodified else record.header("content-encoding")
