"""iCalendar (RFC 5545): the events, tasks and journal entries of a calendar, compared one by one by their UID.

Times of generation (DTSTAMP, CREATED, LAST-MODIFIED), the revision number (SEQUENCE), the calendar's own properties
(PRODID), definitions of time zones, the folding of lines and the order of properties and entries do not count.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from msgspec import Struct

from webstrata.observe.data.data_field import entry_fields
from webstrata.observe.data.digest import DataDigest, digest_of, refused
from webstrata.observe.html.charset import decode_plain

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 50_000
_COMPONENTS = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY"})
_IGNORED = frozenset({"DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "X-MICROSOFT-CDO-APPT-SEQUENCE"})
_FOLD = re.compile(r"\r?\n[ \t]")
_ESCAPE = re.compile(r"\\([\\;,nN])")
_MAX_DEPTH = 20


class CalendarEntry(Struct, frozen=True, kw_only=True, gc=False):
    """One event, task or journal entry."""

    uid: str
    """The UID, with the RECURRENCE-ID of a changed occurrence; the digest if the entry has no UID."""
    summary: str = ""
    start: str = ""
    location: str = ""
    digest: bytes = b""

    @property
    def line(self) -> str:
        """The entry in one line, for people."""
        return ", ".join(filter(None, (_readable_time(self.start), self.summary, self.location)))


def calendar_digest(body: bytes, charset: str | None, url: str) -> DataDigest:
    """The digest of the set of entries. Never raises."""
    try:
        entries = calendar_entries(body, charset)
    except ValueError as error:
        return refused("calendar", error)
    if not entries:
        return refused("calendar", "no entries")
    digests = sorted(entry.digest for entry in entries)
    return DataDigest(
        kind="calendar",
        digest=digest_of("calendar", digests),
        size=len(entries),
        read_fields=lambda: entry_fields((entry.uid, entry.digest, entry.line) for entry in entries),
    )


def calendar_entries(body: bytes, charset: str | None) -> list[CalendarEntry]:
    """The entries, sorted by start and UID. Raises ValueError if it is no calendar or exceeds a limit."""
    if len(body) > MAX_BYTES:
        raise ValueError(f"longer than {MAX_BYTES} bytes")
    text, _ = decode_plain(body, charset)
    entries: list[CalendarEntry] = []
    open_components: list[str] = []
    properties: list[tuple[str, str]] = []
    seen = False
    for line in _FOLD.sub("", text).splitlines():
        key, colon, value = _property(line)
        if not colon:
            continue
        name = key.partition(";")[0]
        if name == "BEGIN":
            seen = seen or value.upper() == "VCALENDAR"
            open_components.append(value.upper())
            if len(open_components) > _MAX_DEPTH:
                raise ValueError(f"nested deeper than {_MAX_DEPTH}")
            if value.upper() in _COMPONENTS:
                properties = []
        elif name == "END" and open_components:
            if open_components.pop() in _COMPONENTS:
                entries.append(_entry(properties))
                if len(entries) > MAX_ENTRIES:
                    raise ValueError(f"more than {MAX_ENTRIES} entries")
        elif _COMPONENTS.intersection(open_components) and name not in _IGNORED:
            properties.append(("/".join((*open_components[2:], key)), value))
    if not seen:
        raise ValueError("not a calendar")
    return sorted(entries, key=lambda entry: (entry.start, entry.uid, entry.digest))


def _property(line: str) -> tuple[str, str, str]:
    """(Name and parameters in upper case, colon, value). A colon inside quotes belongs to a parameter."""
    if '"' not in line.partition(":")[0]:
        key, colon, value = line.partition(":")
    else:
        match = re.match(r'((?:[^":]|"[^"]*")*):(.*)', line, re.DOTALL)
        key, colon, value = (match[1], ":", match[2]) if match else (line, "", "")
    name, semicolon, parameters = key.partition(";")
    if semicolon:
        parameters = ";".join(sorted(parameters.split(";")))
    return f"{name.strip().upper()}{semicolon}{parameters}", colon, value.strip()


def _entry(properties: list[tuple[str, str]]) -> CalendarEntry:
    state = blake2b(digest_size=32)
    first: dict[str, str] = {}
    for key, value in sorted(properties):
        state.update(f"{len(key)}:{key}{len(value)}:{value}".encode("utf-8", "replace"))
        first.setdefault(key.partition(";")[0], value)
    digest = state.digest()
    uid = first.get("UID") or digest.hex()
    occurrence = first.get("RECURRENCE-ID", "")
    return CalendarEntry(
        uid=f"{uid} {occurrence}" if occurrence else uid,
        summary=_plain(first.get("SUMMARY", "")),
        start=first.get("DTSTART", "") or first.get("DUE", ""),
        location=_plain(first.get("LOCATION", "")),
        digest=digest,
    )


def _plain(value: str) -> str:
    unescaped = _ESCAPE.sub(lambda match: " " if match[1] in "nN" else match[1], value)
    return " ".join(unescaped.split())[:500]


def _readable_time(value: str) -> str:
    """`20261117T093000Z` as `2026-11-17 09:30Z`; other values are returned unchanged."""
    match = re.fullmatch(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?", value, re.ASCII)
    if match is None:
        return value[:40]
    day = f"{match[1]}-{match[2]}-{match[3]}"
    return day if match[4] is None else f"{day} {match[4]}:{match[5]}{match[7]}"
