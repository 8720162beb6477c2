"""Attacks on the index and on the lists of pages, by which readers find records. All are signed with the real key."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.attacks.forgery.attack_list import attack
from tests.attacks.forgery.forged_package import Depth, ForgedPackage

LINE = "index|line|record|key|offset"


@attack("index|line|record|offset")
def altered_lines_of_the_index(forged: ForgedPackage) -> Iterator[bytes]:
    """A line of the index has another offset, length, status, type, digest, time or URL, or an extra field."""
    numbers = {"offset": "0", "length": "5", "status": "404"}
    texts = {"mime": "image/png", "digest": "sha1:AAAA", "filename": "other.warc.gz", "truncated": "length"}
    for name, value in (numbers | texts | {"url": "http://never.example/"}).items():
        yield _with_line(forged, name, value)


def _with_line(forged: ForgedPackage, name: str, value: str) -> bytes:
    """The package with a field of the first line of the index altered."""
    other = ForgedPackage(forged.honest)
    key, _, rest = other.lines()[0].partition(" {")
    other.set_lines([f"{key} {json.dumps(json.loads('{' + rest) | {name: value})}", *other.lines()[1:]])
    return other.pack(Depth.SIGNER)


@attack(LINE)
def other_time_in_the_index(forged: ForgedPackage) -> bytes:
    """A line of the index is of 2019."""
    lines = forged.lines()
    key, stamp, rest = lines[0].split(" ", 2)
    forged.set_lines([f"{key} 2019{stamp[4:]} {rest}", *lines[1:]])
    return forged.pack(Depth.SIGNER)


@attack("index|line|record|key")
def never_captured_url_in_the_index(forged: ForgedPackage) -> bytes:
    """A further line maps a URL that was never captured to a real record."""
    line = forged.lines()[0]
    key, _, rest = line.partition(" {")
    fields = json.loads("{" + rest) | {"url": "https://example.net/"}
    forged.set_lines([*forged.lines(), f"net,example)/ {key.split(' ')[1]} {json.dumps(fields)}"])
    return forged.pack(Depth.SIGNER)


@attack("index|line|record|key|surt|search")
def other_key_in_the_index(forged: ForgedPackage) -> bytes:
    """The search key of a line is that of a URL that was never captured; the rest of the line is right."""
    lines = forged.lines()
    lines[0] = "0,example)/" + lines[0][lines[0].index(" ") :]
    forged.set_lines(lines)
    return forged.pack(Depth.SIGNER)


@attack("index|line|record")
def missing_line_in_the_index(forged: ForgedPackage) -> bytes:
    """A record has no line in the index, so that readers do not find it."""
    forged.set_lines(forged.lines()[1:])
    return forged.pack(Depth.SIGNER)


@attack("index|idx|part|offset|line")
def other_place_in_the_second_index(forged: ForgedPackage) -> bytes:
    """The file index.idx leads to another place in the index."""
    name = "indexes/index.idx"
    forged.files[name] = forged.files[name].replace(b'"offset": 0', b'"offset": 1')
    return forged.pack(Depth.SIGNER)


@attack("index|no such file|listed|name|allowed|file")
def second_index(forged: ForgedPackage) -> bytes:
    """A second index maps a URL that was never captured to a real record."""
    key, _, rest = forged.lines()[0].partition(" {")
    fields = json.dumps(json.loads("{" + rest) | {"url": "https://example.net/"})
    forged.files["indexes/more.cdx"] = f"net,example)/ {key.split(' ')[1]} {fields}\n".encode()
    return forged.pack(Depth.SIGNER)


@attack("page|list|captured|time")
def altered_lists_of_pages(forged: ForgedPackage) -> Iterator[bytes]:
    """A list of pages names a page that was never captured, or a captured one at another time."""
    name = "pages/pages.jsonl"
    for field, value in (("url", "http://never.example/"), ("ts", "2019-01-01T00:00:00Z")):
        other = ForgedPackage(forged.honest)
        about, first, *rest = other.files[name].splitlines(keepends=True)
        altered = json.dumps(json.loads(first) | {field: value}).encode() + b"\n"
        other.files[name] = b"".join([about, altered, *rest])
        yield other.pack(Depth.SIGNER)


@attack("digest|size|altered|file")
def missing_line_in_a_list_of_pages(forged: ForgedPackage) -> bytes:
    """A page is left out of the list of pages; digests in datapackage.json are repaired."""
    name = "pages/extraPages.jsonl"
    forged.files[name] = b"".join(forged.files[name].splitlines(keepends=True)[:-1])
    return forged.pack(Depth.DIGESTS)


@attack("page|list|no such file|listed|name|file")
def further_page_list(forged: ForgedPackage) -> bytes:
    """A further list of pages has a name that captures do not have."""
    forged.files["pages/more.jsonl"] = forged.files["pages/pages.jsonl"]
    return forged.pack(Depth.SIGNER)
