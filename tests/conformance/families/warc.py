"""WARC, ARC and gzip files of other writers: records, verdicts, and the lines that the field's indexer prints."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.case import Case, play_rows
from tests.conformance.verdict import Verdict, sentence_of
from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import record_line
from webstrata.archive.warc.members import DamagedBytes, GzipMember, members
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.rules import missing_fields, record_faults
from webstrata.archive.warc.walk import walk

FAMILY = "warc"

_SUFFIXES = (".arc", ".warc", ".warc.gz", ".arc.gz")
_NOT_MADE = {
    "cdxj_post_append": "the index has no lines with POST data: captures are looked up by URL",
    "cdxj_all_records": "the index has lines for captures only, which are looked up by URL",
    "warnings": "the product reports faults and no warnings",
}
_CHECKED = (
    *("records", "errors", "errors_per_record", "payload_digest_failed", "digests_pass", "missing", "concurrent_to"),
    *("index", "cdxj", "cdx9", "cdx11", "members", "note"),
)


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    play_rows(folder / "cases.json", partial(_play, folder), verdict)
    return verdict


def _play(folder: Path, case: Case, verdict: Verdict) -> None:
    path, expect = case.file(folder / "files", "file"), case.part("expect")
    wanted = case.choice("verdict", ("valid", "invalid", "lenient"))
    expect.only((*_CHECKED, *_NOT_MADE))
    for key in _NOT_MADE:
        if expect.has(key):
            verdict.leave_out(f"{case.id}: {key}", _NOT_MADE[key])
    if not path.name.endswith(_SUFFIXES):
        _gzip_case(verdict, path, case)
        return
    items = list(walk(path))
    records = [item for item in items if isinstance(item, WarcRecord)]
    wrong = [fault for record in records for fault in record_faults(record)]
    wrong += [item.what for item in items if isinstance(item, DamagedBytes)]

    def check(what: str, expected: object, actual: object) -> None:
        rule = sentence_of(_RULES, what, records, expected, actual)
        verdict.check(f"{case.id}: {what}", expected, actual, contested=rule)

    if wanted == "invalid":
        check("verdict", True, bool(wrong))
    else:
        check("readable", True, bool(records) and all(record.url or record.kind for record in records))
    _check_counts(check, expect, records, wrong)
    _check_lines(check, expect, records, path.name)


def _marks_truncation(what: str, records: list[WarcRecord], expected: object, actual: object) -> bool:
    """The index line of a capture whose body was cut has the field `truncated`, as in Common Crawl's index, because
    an unmarked truncation looks like a change; the source leaves it out (docs/reference/archive.md)."""
    if what != "cdxj" or not any(record.field("warc-truncated") for record in records):
        return False
    return isinstance(actual, list) and [_TRUNCATED.sub("", line) for line in actual] == expected


def _reads_encoded_words(what: str, records: list[WarcRecord], expected: object, actual: object) -> bool:
    """`=?` in a field is data (in a URI, a query whose value begins with `?`); the source takes it for the begin of an
    RFC 2047 word (docs/reference/archive.md)."""
    encoded = any("=?" in value for record in records for _, value in record.fields)
    return encoded and what in ("verdict", "errors") and not actual


_TRUNCATED = re.compile(r', "truncated": "\w+"')
_RULES = (_marks_truncation, _reads_encoded_words)


def _check_counts(check: Any, expect: Case, records: list[WarcRecord], wrong: list[str]) -> None:
    if expect.has("records"):
        check("records", expect.number("records"), len(records))
    if expect.has("errors"):
        check("errors", expect.number("errors"), len(wrong))
    if expect.has("errors_per_record"):
        check(
            "errors per record", expect.numbers("errors_per_record"), [len(record_faults(record)) for record in records]
        )
    if expect.has("payload_digest_failed"):
        failed = sum("payload-digest does not match" in fault for fault in wrong)
        check("payload digests failed", expect.number("payload_digest_failed"), failed)
    if expect.has("digests_pass"):
        check("digests that pass", expect.number("digests_pass"), sum(not record_faults(record) for record in records))
    first = records[0] if records else None
    if expect.has("missing"):
        known = {"WARC-Type"} if first is not None and first.kind else set()
        wanted = {name.lower() for name in expect.texts("missing") if name not in known}
        told = {line.removesuffix(" is missing") for line in missing_fields(first)} if first is not None else set()
        check("missing fields", wanted, told)
    if expect.has("concurrent_to"):
        names = [name for name, _ in first.fields] if first is not None else []
        check("concurrent", expect.number("concurrent_to"), names.count("warc-concurrent-to"))
    if expect.has("index"):
        told_index = [{"offset": item.offset, "length": item.length, "warc_type": item.kind} for item in records]
        check("index", expect.items("index"), told_index)


def _check_lines(check: Any, expect: Case, records: list[WarcRecord], name: str) -> None:
    lines = [line for record in records if (line := record_line(record, name))]
    if expect.has("cdxj"):
        check("cdxj", expect.texts("cdxj"), [line.decode().rstrip("\n") for line in lines])
    for form in ("cdx9", "cdx11"):
        if expect.has(form):
            wanted = [line for line in expect.texts(form) if not line.startswith(" CDX")]
            check(form, wanted, [_legacy(line, form) for line in lines])


def _legacy(line: bytes, form: str) -> str:
    """Our line in the older spellings, to compare with them."""
    entry = cdxj.parse(line)
    assert entry is not None
    row = [entry.surt, entry.timestamp, entry.url, entry.mime or "-", entry.status or "-"]
    row += [entry.digest.rpartition(":")[2], "-"]
    row += ["-", str(entry.length)] if form == "cdx11" else []
    return " ".join([*row, str(entry.offset), entry.filename])


def _gzip_case(verdict: Verdict, path: Path, case: Case) -> None:
    with path.open("rb") as file:
        items = list(members(file))
    broken = any(isinstance(item, DamagedBytes) for item in items)
    verdict.check(f"{case.id}: verdict", case.text("verdict") == "invalid", broken)
    expect = case.part("expect")
    if expect.has("members"):
        whole = sum(isinstance(item, GzipMember) for item in items)
        verdict.check(f"{case.id}: members", expect.number("members"), whole)
