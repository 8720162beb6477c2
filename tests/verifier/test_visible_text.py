"""The scan of the second verifier gives the digests of the first implementation, which it shares no code with."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.observe.visible import visible_content
from webstrata.verifier.verify_capture import scanned

DATA = Path(__file__).parent.parent / "data"
PAGES = sorted(file for file in DATA.rglob("*") if file.suffix in (".html", ".xhtml", ".htm"))

FRAGMENTS = (
    *(
        b"<",
        b">",
        b"</",
        b"<!",
        b"<?",
        b"<!--",
        b"-->",
        b"--!>",
        b"<!-->",
        b"<!--->",
        b"<![CDATA[",
        b"]]>",
        b"<a",
        b"</ p>",
    ),
    *(
        b"words",
        b" ",
        b"\n",
        b"\x0b",
        b"/",
        b"=",
        b'"',
        b"'",
        b"&amp;",
        b"\xff",
        b"\xfe\xff",
        b"\0",
        b"\x1b",
        b"x" * 60,
    ),
    *(b"<script>", b"</script>", b"</SCRIPT >", b"<script src=s title=st>", b"<script><!--", b"<script", b"<style>"),
    *(b"</style>", b"<noscript>", b"</noscript>", b"<title>", b"</title>", b"<textarea>", b"</textarea>", b"<xmp>"),
    *(b"</xmp>", b"<iframe src=q>", b"</iframe>", b"<noembed>", b"</noembed>", b"<noframes>", b"</noframes>"),
    *(b"<select>", b"</select>", b"<option label=o>", b"<svg>", b"<svg/>", b"<svg a=b/>", b"</svg>", b"<math>"),
    *(b"</math>", b"<foreignObject>", b"<desc>", b"</desc>", b"<mi>", b"<plaintext>", b"<a/b>", b"<a ==b>"),
    *(
        b"<input type=hidden value=h>",
        b"<input TYPE=' Hidden' value=k>",
        b"<button value=' b  c '>",
        b"<meter value=3>",
    ),
    *(b"<meta http-equiv=Refresh content='1; url=x'>", b"<meta content=z http-equiv=refresh>", b"<a href=1 HREF=2>"),
    *(b"<img alt='' src= >", b"<img alt=x/ src=y/>", b"<img alt", b" src", b"=x", b"<a =b=c href=d>", b"<link href=l>"),
    *(b"</p b='>", b"<col>", b"<template>", b"<circle/>", b"<desc/>", b"<li value=4 start=5 srcdoc='<b>'>"),
    *(b"<a xlink:href=q>", b"<a href=\"u\"title='t'>", b"</p title=x>", b"<p title='T  x'>"),
)


def same(body: bytes) -> None:
    first = visible_content(body)
    layers, is_shell = scanned(body)
    assert (layers["visible_text"], layers["links"], is_shell) == (first.text, first.links, first.is_script_shell)


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_equal_digests_of_real_pages(file: Path) -> None:
    """Both implementations agree on every HTML page of the test data, complete and cut at any tenth."""
    body = file.read_bytes()
    for tenth in range(1, 11):
        same(body[: len(body) * tenth // 10])


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(b"".join))
def test_equal_digests_of_malformed_pages(body: bytes) -> None:
    """Both implementations agree on sequences of broken markup."""
    same(body)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text("<>/=!-?'\" aAtT\n[]", max_size=40).map(str.encode))
def test_equal_digests_of_random_characters(body: bytes) -> None:
    """Both implementations agree on random sequences of the characters that markup is made of."""
    same(body)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"<p>a <b>b</b>", [b"a", b"b"]),
        (b"<!-- hidden --><p title=' x  y '>z", [b"x y", b"z"]),
        (b"<script>let hidden = 1</script >after", [b"after"]),
        (b"<title> t </title><textarea><p>x</textarea>", [b"t", b"<p>x"]),
        (b"a<b c", [b"a", b"<b c"]),
        (b"1 < 2 <p>", [b"1", b"< 2"]),
        (b"<plaintext>a<b>c", [b"a<b>c"]),
        (b"<input type=HIDDEN value=h><input value=v>", [b"v"]),
        (b"a\x00<p>b", [b"a\x00<p>b"]),
    ],
)
def test_visible_text(body: bytes, shown: list[bytes]) -> None:
    """What is text follows the definition, also where markup is broken."""
    assert scanned(body)[0]["visible_text"] == hashlib.sha256(b"\n".join(shown)).hexdigest()


@pytest.mark.parametrize(
    "body",
    [
        b"<a" * 50_000,
        b"<!--" * 50_000,
        b"<p a='" * 30_000,
        b"<" * 200_000,
        b"<script><!--<script" * 9_000,
        b"</a " * 50_000,
    ],
)
def test_time_is_linear(body: bytes) -> None:
    """Broken markup of a hundred kilobytes, which a scan could read again and again, is one text or few."""
    same(body)
