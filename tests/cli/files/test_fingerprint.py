"""`webstrata fingerprint FILE`: all layers of a file, without a home, also of malicious files."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Call

HTML = b"<title>T\xc3\xa9</title><main><h1>Head</h1><p>Some text, <a href=b.html>linked</a> twice.</p></main>"


def test_layers(tmp_path: Path, call: Call) -> None:
    """Every layer is printed under its name, and links are resolved against --url."""
    file = tmp_path / "a.bin"
    file.write_bytes(HTML)

    result = call("fingerprint", file, "--type", "text/html; charset=utf-8", "--url", "http://e.test/x/", "--json")

    assert (result.code, result.err) == (0, "")
    found = result.json
    assert found["raw"] == hashlib.sha256(HTML).hexdigest()
    assert (found["size"], found["media_type"], found["title"]) == (len(HTML), "text/html", "Té")
    assert found["urls"] == ["http://e.test/x/b.html"]
    assert found["payload"].startswith("sha1:")
    assert len(found["parts"]) == 6
    assert int(found["simhash"], 16) < 1 << 64
    assert found.keys() >= {"text", "links", "main_links", "data", "data_kind", "data_note", "selected", "problem"}


def test_type_by_name_and_rules(tmp_path: Path, call: Call) -> None:
    """Without --type the media type is guessed from the file name; rules add the layer `selected`."""
    file = tmp_path / "a.json"
    file.write_text('{"b": 1, "a": 2}')

    plain = call("fingerprint", file, "--json").json
    ruled = call("fingerprint", file, "--json", "--ignore", "jsonpath:$.a").json

    assert (plain["media_type"], plain["data_kind"], plain["selected"]) == ("application/json", "json", None)
    assert ruled["selected"] is not None
    assert "media_type" in call("fingerprint", file).text


DEEP = 100_000
HOSTILE = {
    "deep HTML": ("text/html", b"<div>" * DEEP + b"text"),
    "many attributes": ("text/html", b"<p " + b" ".join(b"a%d=1" % n for n in range(10**6)) + b">text"),
    "XML bomb": (
        "application/xml",
        b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
        + b"".join(b'<!ENTITY a%d "%s">' % (n, (b"&a%d;" % (n - 1) if n else b"&a;") * 10) for n in range(12))
        + b"]><a>&a11;</a>",
    ),
    "external entity": ("application/xml", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
    "deep XML": ("application/xml", b"<a>" * DEEP + b"</a>" * DEEP),
    "deep JSON": ("application/json", b"[" * DEEP + b"]" * DEEP),
    "long number": ("application/json", b"[" + b"9" * 10**6 + b"]"),
    "NULs": ("text/html", b"\0" * 10**6),
    "NULs as JSON": ("application/json", b"\0" * 1000),
    "NULs as CSV": ("text/csv", b"a,b\0\n" * 1000),
    "NULs as Turtle": ("text/turtle", b"\0" * 1000),
    "lying charset": ("text/html; charset=utf-16", b"<p>plain</p>"),
    "unknown charset": ("text/html; charset=no-such", b"<p>\xff</p>"),
    "quotes without end": ("text/csv", b'a,"b\n' * 100_000),
    "nothing": ("text/turtle", b""),
    "a broken media type": ("\x00;;=;", b"<p>x"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, tmp_path: Path, call: Call) -> None:
    """A malicious file is parsed within seconds, and its raw digest is always computed."""
    kind, body = HOSTILE[name]
    file = tmp_path / "file"
    file.write_bytes(body)
    begun = time.monotonic()

    result = call("fingerprint", file, "--type", kind, "--json")

    assert result.code == 0, result.err
    assert result.json["raw"] == hashlib.sha256(body).hexdigest()
    assert b"root:" not in result.out
    assert time.monotonic() - begun < 40
