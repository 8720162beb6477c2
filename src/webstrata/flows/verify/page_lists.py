"""Check of the lists of pages in a package: they name captured pages only, with their times, titles and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from webstrata.flows.verify.content_process import ContentProcess
from webstrata.flows.verify.contents import MAX_BODY_BYTES, content_encoding_of
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.flows.verify.recomputed_content import ContentJob
from webstrata.flows.verify.record_table import RecordTable
from webstrata.flows.verify.response_facts import content_type_of
from webstrata.ports import Evidence
from webstrata.records import KeptRecord
from webstrata.sharp.proof.stated_certificate import StatedCertificate

PAGE_LISTS = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_MAX_LINE_BYTES = 4 << 20
_FORMAT = "json-pages-1.0"
_FIELDS = frozenset({"id", "url", "ts", "title", "text", "seed"})
_FRACTION = re.compile(r"\.\d+Z")


class PageListCheck:
    """Checks every line of the lists. Replay software shows titles and texts before a page is opened."""

    def __init__(self, certificate: StatedCertificate, table: RecordTable, evidence: Evidence) -> None:
        self._table = table
        self._evidence = evidence
        self._seeds = set(certificate.policy.seeds)
        self._observed = {
            page.url: [seen.record for seen in page.observations if seen.record] for page in certificate.pages
        }

    def failures(self, process: ContentProcess) -> Iterator[FailedCheck]:
        listed: set[str] = set()
        for path in PAGE_LISTS:
            if path not in self._evidence.sizes():
                continue
            for index, line in enumerate(self._evidence.lines(path, _MAX_LINE_BYTES)):
                row = _row(line)
                if index == 0 and (row or {}).get("format") == _FORMAT:
                    continue
                if index == 0 or row is None:
                    yield FailedCheck(page=path, what=f"its line {index + 1} is not a line of a list of pages")
                    break
                url = str(row.get("url"))
                what = self._fault(row, process) or ("it is listed twice" if url in listed else "")
                listed.add(url)
                if what:
                    yield FailedCheck(page=url[:500], what=f"{path}: {what}")

    def _fault(self, row: dict[str, Any], process: ContentProcess) -> str:
        url, at = row.get("url"), row.get("ts")
        if not isinstance(url, str) or url not in self._observed:
            return "it is not a page of the certificate"
        if not row.keys() <= _FIELDS or bool(row.get("seed")) != (url in self._seeds):
            return "it has other fields than pages have, or is wrongly called a seed"
        records = [self._table.records[name] for name in self._observed[url] if name in self._table.records]
        found = [record for record in records if at in (record.date, _FRACTION.sub("Z", record.date))]
        if not found:
            return f"the time {str(at)[:40]!r} is of none of its records"
        described = [self._described(record, process) for record in found]
        title, text = row.get("title", ""), row.get("text", "")
        if (title, text) in described:
            return ""
        wrong = "text" if title in dict(described) else "title"
        return f"its {wrong} is not that of the page"

    def _described(self, record: KeptRecord, process: ContentProcess) -> tuple[str, str]:
        """The title and the text of a record's content."""
        source = self._table.source(record)
        body = self._evidence.body(source, MAX_BODY_BYTES) if source is not None else None
        if source is None or body is None:
            return "", ""
        job = ContentJob(
            url=record.url,
            body=body,
            content_type=content_type_of(record, self._table.records),
            content_encoding=content_encoding_of(record, source),
            is_parsed=False,
            is_described=True,
        )
        found = process.recompute(job)
        return found.title, found.text


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
