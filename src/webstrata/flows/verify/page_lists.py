"""Check of the lists of pages in a package: they may name only captured pages, with their own times and titles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from webstrata.flows.verify.document import StatedCertificate
from webstrata.flows.verify.failed_check import FailedCheck
from webstrata.ports import Evidence

PAGE_LISTS = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_MAX_BYTES = 256 << 20
_FORMAT = "json-pages-1.0"
_FRACTION = re.compile(r"\.\d+Z")


def page_list_failures(certificate: StatedCertificate, evidence: Evidence) -> Iterator[FailedCheck]:
    """Every line must be of a page of the certificate, at the time of one of its records."""
    times: dict[str, set[str]] = {}
    for entry in certificate.pages:
        seen = {one.started for one in entry.observations if one.record}
        times[entry.url] = seen | {_FRACTION.sub("Z", at) for at in seen}
    for path in PAGE_LISTS:
        if path not in evidence.sizes():
            continue
        rows = _rows(evidence.read(path, _MAX_BYTES))
        if rows is None or not rows or rows[0].get("format") != _FORMAT:
            yield FailedCheck(page=path, what="it is not a list of pages, or is too large")
            continue
        for row in rows[1:]:
            url, at = row.get("url"), row.get("ts")
            if not isinstance(url, str) or url not in times:
                yield FailedCheck(page=str(url)[:500], what=f"{path} names it, but it is not a page of the certificate")
            elif at not in times[url]:
                yield FailedCheck(
                    page=url, what=f"{path} gives the time {str(at)[:40]!r}, which is of none of its records"
                )


def _rows(data: bytes | None) -> Sequence[dict[str, Any]] | None:
    try:
        rows = [json.loads(line) for line in (data or b"").split(b"\n") if line]
    except (ValueError, RecursionError):
        return None
    return rows if all(isinstance(row, dict) for row in rows) else None
