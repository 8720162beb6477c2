"""Hosts whose contents are small to send and costly to decode or to parse as a page or as plain data."""

from __future__ import annotations

import asyncio
import gzip

import brotli
import zstandard

from tests.attacks.behaviour import Behaviour, body
from tests.attacks.behaviours.compressed import repeated_deflate, repeated_gzip
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_MB = 1_000_000
_JSON = "application/json"


def _zeros() -> bytes:
    return repeated_gzip(b"\0" * 10 * _MB, 30)


def _paragraphs() -> bytes:
    return repeated_gzip(b"<p>text " * (_MB // 8), 100)


def _tags() -> bytes:
    return repeated_gzip(b"<i><b><p>" * (_MB // 9), 50)


def _deflate() -> bytes:
    return repeated_deflate(b"x" * _MB, 300)


def _brotli() -> bytes:
    return brotli.compress(b"\0" * 150 * _MB, quality=1)


def _zstd() -> bytes:
    return zstandard.compress(b"\0" * 300 * _MB, 1)


def _gzip_twice() -> bytes:
    return gzip.compress(repeated_gzip(b"\0" * 10 * _MB, 100))


def _depth() -> bytes:
    return b"<title>Depth</title>" + b"<div>" * 100_000 + b"deep"


def _attributes() -> bytes:
    return b"<p " + b" ".join(b"a%d=v" % n for n in range(100_000)) + b">text"


def _table() -> bytes:
    return b"<table>" + b"<tr><td>1<td>2<td>3<td>4" * 100_000 + b"</table>"


def _tables() -> bytes:
    return b"<table><tr><td>" * 3000 + b"deep"


def _formatting() -> bytes:
    return b"<p>" + b"".join(b"<b class=c%d><i><u><a href=%d>" % (n, n) for n in range(5000)) + b"</p><p>x" * 200


def _line() -> bytes:
    return b"<p>" + b"word" * 5 * _MB


def _comment() -> bytes:
    return b"<p>text<!--" + b"- " * 5 * _MB


def _links() -> bytes:
    return b"".join(b"<a href='/%d'>link %d</a> " % (n, n) for n in range(100_000))


def _select() -> bytes:
    return b"<select>" + b"<option><select><optgroup>" * 50_000


def _svg() -> bytes:
    return b"<svg>" + b"<g><foreignObject><math><mi>" * 20_000


def _json_depth() -> bytes:
    return b"[" * 1_000_000 + b"]" * 1_000_000


def _json_keys() -> bytes:
    return b'{"a":' * 200_000 + b"1" + b"}" * 200_000


def _json_number() -> bytes:
    return b"[1" + b"0" * 2 * _MB + b", 1e999999999, -0.0e-99999]"


def _json_wide() -> bytes:
    return repeated_gzip(b'{"k":[1,2,3],"v":"text"},' * 40_000, 60, b"[", b"0]")


def _csv_columns() -> bytes:
    return (b"c," * 1_000_000 + b"c\n") * 3


def _csv_quote() -> bytes:
    return b'a,b\n"' + b"x,y\n" * 3 * _MB


def _text() -> bytes:
    return repeated_gzip(b"word " * (_MB // 5), 150)


async def _poison_site(caller: Caller, request: Request) -> None:
    """Ten pages of 300 MB of zeros each."""
    if request.path == "/":
        links = "".join(f'<a href="/poison-{n}">poison {n}</a> ' for n in range(10))
        await caller.send(reply(f"<title>Poison</title><p>{links}").wire)
        return
    unit = await asyncio.to_thread(repeated_gzip, b"\0" * 10 * _MB, 30, request.path.encode())
    await caller.send(reply(unit, Content_Encoding="gzip").wire)


async def _new_bomb(caller: Caller, request: Request) -> None:
    """Another bomb at each visit, so that remembering its digest does not help."""
    title = b"<title>%d</title>" % caller.number
    unit = await asyncio.to_thread(repeated_gzip, b"<p>text " * (_MB // 8), 60, title)
    await caller.send(reply(unit, Content_Encoding="gzip").wire)


BOMBS = (
    Behaviour("bomb-zeros", "300 MB of zeros as HTML in 300 KB", body(_zeros, Content_Encoding="gzip")),
    Behaviour("bomb-site", "ten pages of such zeros", _poison_site, site=True),
    Behaviour("bomb-new", "another bomb at each visit", _new_bomb),
    Behaviour("bomb-paragraphs", "100 MB of paragraphs, as gzip", body(_paragraphs, Content_Encoding="gzip")),
    Behaviour("bomb-tags", "50 MB of open tags, as gzip", body(_tags, Content_Encoding="gzip")),
    Behaviour("bomb-text", "150 MB of plain text, as gzip", body(_text, kind="text/plain", Content_Encoding="gzip")),
    Behaviour("bomb-deflate", "300 MB as deflate", body(_deflate, Content_Encoding="deflate")),
    Behaviour("bomb-brotli", "150 MB as Brotli", body(_brotli, Content_Encoding="br")),
    Behaviour("bomb-zstd", "300 MB as Zstandard", body(_zstd, Content_Encoding="zstd")),
    Behaviour("bomb-twice", "1 GB as gzip of gzip", body(_gzip_twice, Content_Encoding="gzip, gzip")),
    Behaviour("html-depth", "100,000 elements within each other", body(_depth)),
    Behaviour("html-attributes", "100,000 attributes", body(_attributes)),
    Behaviour("html-table", "a table of 100,000 rows", body(_table)),
    Behaviour("html-tables", "3,000 tables within each other", body(_tables)),
    Behaviour("html-formatting", "20,000 formatting elements that each paragraph repeats", body(_formatting)),
    Behaviour("html-line", "20 MB without white space", body(_line)),
    Behaviour("html-comment", "a comment of 10 MB without end", body(_comment)),
    Behaviour("html-links", "100,000 links", body(_links)),
    Behaviour("html-select", "select elements within each other", body(_select)),
    Behaviour("html-svg", "SVG and MathML within each other", body(_svg)),
    Behaviour("json-depth", "a million lists within each other", body(_json_depth, kind=_JSON)),
    Behaviour("json-keys", "200,000 objects within each other", body(_json_keys, kind=_JSON)),
    Behaviour("json-number", "a number of two million digits", body(_json_number, kind=_JSON)),
    Behaviour("json-wide", "2.4 million objects, as gzip", body(_json_wide, kind=_JSON, Content_Encoding="gzip")),
    Behaviour("csv-columns", "a million columns", body(_csv_columns, kind="text/csv")),
    Behaviour("csv-quote", "a quotation mark that is not closed, and 12 MB", body(_csv_quote, kind="text/csv")),
)
