"""WARC, ARC and gzip files of other writers: records, verdicts, and the lines that the field's indexer prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.verdict import Verdict
from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import record_line
from webstrata.archive.warc.members import DamagedBytes, GzipMember, members
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.rules import missing_fields, record_faults
from webstrata.archive.warc.walk import walk

FAMILY = "warc"

# The reasons are in docs/reference/archive.md, "Contested conformance cases".
_CONTESTED = {
    "cc.warc.gz: cdxj": "a cut body is marked in our lines, as Common Crawl itself does",
    "invalid-warcfile-encoding-headers.warc.gz: verdict": "`=?` in a URI is not an RFC 2047 word",
    "invalid-warcfile-encoding-headers.warc.gz: errors": "the same",
}


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text()):
        _case(verdict, folder / "files" / case["file"], case)
    return verdict


def _case(verdict: Verdict, path: Path, case: dict[str, Any]) -> None:
    expect = case["expect"]
    if not path.name.endswith((".arc", ".warc", ".warc.gz", ".arc.gz")):
        _gzip_case(verdict, path, case)
        return
    items = list(walk(path))
    records = [item for item in items if isinstance(item, WarcRecord)]
    wrong = [fault for record in records for fault in record_faults(record)]
    wrong += [item.what for item in items if isinstance(item, DamagedBytes)]

    def check(what: str, expected: object, actual: object) -> None:
        name = f"{case['id']}: {what}"
        verdict.check(name, expected, actual, contested=name in _CONTESTED)

    if case["verdict"] == "invalid":
        check("verdict", True, bool(wrong))
    else:
        check("readable", True, bool(records) and all(record.url or record.kind for record in records))
    _check_counts(check, expect, records, wrong)
    _check_lines(check, expect, records, path.name)


def _check_counts(check: Any, expect: dict[str, Any], records: list[WarcRecord], wrong: list[str]) -> None:
    if "records" in expect:
        check("records", expect["records"], len(records))
    if "errors" in expect:
        check("errors", expect["errors"], len(wrong))
    if "errors_per_record" in expect:
        check("errors per record", expect["errors_per_record"], [len(record_faults(record)) for record in records])
    if "payload_digest_failed" in expect:
        failed = sum("payload-digest does not match" in fault for fault in wrong)
        check("payload digests failed", expect["payload_digest_failed"], failed)
        check("digests that pass", expect["digests_pass"], sum(not record_faults(record) for record in records))
    if "missing" in expect:
        wanted = {name.lower() for name in expect["missing"] if name != "WARC-Type" or not records[0].kind}
        told = {line.removesuffix(" is missing") for line in missing_fields(records[0])}
        check("missing fields", wanted, told)
    if "concurrent_to" in expect:
        found = [value for name, value in records[0].fields if name == "warc-concurrent-to"]
        check("concurrent", expect["concurrent_to"], len(found))
    if "index" in expect:
        told_index = [{"offset": item.offset, "length": item.length, "warc_type": item.kind} for item in records]
        check("index", expect["index"], told_index)


def _check_lines(check: Any, expect: dict[str, Any], records: list[WarcRecord], name: str) -> None:
    lines = [line for record in records if (line := record_line(record, name))]
    if "cdxj" in expect:
        check("cdxj", expect["cdxj"], [line.decode().rstrip("\n") for line in lines])
    for form in ("cdx9", "cdx11"):
        if form in expect:
            wanted = [line for line in expect[form] if not line.startswith(" CDX")]
            check(form, wanted, [_legacy(line, form) for line in lines])


def _legacy(line: bytes, form: str) -> str:
    """Our line in the older spellings, to compare with them."""
    entry = cdxj.parse(line)
    assert entry is not None
    row = [entry.surt, entry.timestamp, entry.url, entry.mime or "-", entry.status or "-"]
    row += [entry.digest.rpartition(":")[2], "-"]
    row += ["-", str(entry.length)] if form == "cdx11" else []
    return " ".join([*row, str(entry.offset), entry.filename])


def _gzip_case(verdict: Verdict, path: Path, case: dict[str, Any]) -> None:
    with path.open("rb") as file:
        items = list(members(file))
    broken = any(isinstance(item, DamagedBytes) for item in items)
    verdict.check(f"{case['id']}: verdict", case["verdict"] == "invalid", broken)
    if "members" in case["expect"]:
        whole = sum(isinstance(item, GzipMember) for item in items)
        verdict.check(f"{case['id']}: members", case["expect"]["members"], whole)
