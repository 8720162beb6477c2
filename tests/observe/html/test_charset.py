"""Decoding of bodies and detection of their encoding."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.html import charset
from webstrata.observe.html.charset import codec_of, decode, decode_plain, encoding_of, sniff

SNIFFED = [
    # body, HTTP label, encoding
    (b"", None, "windows-1252"),
    (b"\xef\xbb\xbfx", "iso-8859-2", "utf-8"),  # the byte order mark has precedence over the header
    (b"\xff\xfex\0", None, "utf-16le"),
    (b"\xfe\xff\0x", None, "utf-16be"),
    (b'<meta charset="koi8-r">', "utf-8", "utf-8"),  # the header has precedence over the page
    (b'<meta charset="koi8-r">', "no-such-thing", "koi8-r"),
    (b"<META CHARSET=latin2>", None, "iso-8859-2"),
    (b"<meta http-equiv=Content-Type content='text/html; charset=sjis'>", None, "shift_jis"),
    (b"<meta content='text/html; charset=sjis'>", None, "windows-1252"),  # no pragma
    (b"<meta charset=utf-16le>", None, "utf-8"),
    (b"<meta charset=x-user-defined>", None, "windows-1252"),
    (b"<!-- <meta charset=koi8-r> --><meta charset=utf-8>", None, "utf-8"),
    (b"<p title='<meta charset=koi8-r>'><meta charset=utf-8>", None, "utf-8"),
    (b"<meta charset='koi8-r", None, "windows-1252"),  # never closed
    (b"<metal charset=koi8-r>", None, "windows-1252"),
    (b"</meta charset=koi8-r>", None, "windows-1252"),
    (b'<?xml version="1.0" encoding="koi8-r"?><html>', None, "koi8-r"),
    (b"<!DOCTYPE html>" + b" " * 3000 + b"<meta charset=koi8-r>", None, "koi8-r"),
]


@pytest.mark.parametrize(("body", "label", "expected"), SNIFFED)
def test_sniffing(body: bytes, label: str | None, expected: str) -> None:
    """Precedence as in browsers: byte order mark, header, declaration, default."""
    assert sniff(body, label) == expected


@given(st.binary(max_size=3000), st.none() | st.text(max_size=30) | st.sampled_from(["utf-16", "gbk", "hz-gb-2312"]))
def test_decoding_never_fails(body: bytes, label: str | None) -> None:
    """Any bytes with any label are decoded to text that can be encoded."""
    for text, _ in (decode(body, label, html=True), decode(body, label), decode_plain(body, label)):
        text.encode("utf-8")


def test_every_label_has_a_codec() -> None:
    """Python has a codec for every encoding of the standard."""
    for label, encoding in charset._LABELS.items():
        assert encoding_of(f" {label.upper()}\n") == encoding
        codecs.lookup(codec_of(encoding))
    assert encoding_of("base64") is None
    assert encoding_of("rot13") is None


def test_plain_text_is_utf8_if_it_can_be() -> None:
    """Plain text without a charset is decoded as UTF-8 if it is valid, else as windows-1252."""
    assert decode_plain("naïve".encode(), None) == ("naïve", "utf-8")
    assert decode_plain("naïve".encode("cp1252"), None) == ("naïve", "windows-1252")
    assert decode_plain("naïve".encode(), "windows-1252")[1] == "windows-1252"
