"""Visible text and links of HTML as bytes: what is kept, what is dropped, and where the rest of a page is text."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from webstrata.observe.visible import VisibleContent, is_html, visible_content, visible_lines

LONG = b"Twenty words of text that a reader sees make a page which is more than a shell for the scripts that it loads."


def _content(texts: list[bytes], links: list[bytes], is_script_shell: bool = False) -> VisibleContent:
    return VisibleContent(
        text=hashlib.sha256(b"\n".join(texts)).hexdigest(),
        links=hashlib.sha256(b"\n".join(links)).hexdigest(),
        is_script_shell=is_script_shell,
    )


LINES = {
    "words and spaces": (b" <p>two\t\r\n words</p> \x0b<b>end</b>", [b"two words", b"end"]),
    "entities stay as they are": (b"<p>a&amp;b&lt;c", [b"a&amp;b&lt;c"]),
    "tags split texts": (b"wo<b>r</b>d", [b"wo", b"r", b"d"]),
    "> in a quoted value": (b"""<a x="x>y" z='1>"2'>text""", [b"text"]),
    "quotes within an unquoted value": (b"""<a x=y"z'>text""", [b"text"]),
    "a quote in a name": (b"""<a "x' y">text""", [b"text"]),
    "no space after a value": (b"""<a x="1"y='2'/z=3>text""", [b"text"]),
    "= as a name": (b"<a = == =x=y>text", [b"text"]),
    "a value after spaces": (b"<a x \n=\n '>'>text", [b"text"]),
    "no value before >": (b"<a x=>text", [b"text"]),
    "a quote without end": (b"one<a title=\"x>two<b y=''>three", [b"one", b"<a title=\"x>two<b y=''>three"]),
    "a tag without end": (b"one<a href=x two", [b"one", b"<a href=x two"]),
    "an end tag with attributes": (b"<p>one</p x='>'>two", [b"one", b"two"]),
    "< that starts nothing": (b"1 < 2 <3 <", [b"1", b"< 2", b"<3", b"<"]),
    "names of tags": (b"<a<b>text<x:y.z-1 />more", [b"text", b"more"]),
    "comment": (b"one<!-- no <p> -- > -->two", [b"one", b"two"]),
    "short comments": (b"1<!-->2<!--->3<!---->4<!----!>5", [b"1", b"2", b"3", b"4", b"5"]),
    "comment that ends with a bang": (b"one<!-- no --!>two", [b"one", b"two"]),
    "comment that seems to end": (b"one<!---!> no -->two", [b"one", b"two"]),
    "comment without end": (b"one<!-- two <p>three", [b"one", b"<!-- two <p>three"]),
    "declarations": (b"<!DOCTYPE html><?php no ?><!x></ no></>one", [b"one"]),
    "declaration with a quoted >": (b'<!DOCTYPE html PUBLIC "a>b">', [b'b">']),
    "declaration without end": (b"one<!DOCTYPE two", [b"one", b"<!DOCTYPE two"]),
    "CDATA": (b"one<![CDATA[two]]>three", [b"one", b"<![CDATA[two]]>three"]),
    "script and style": (b"1<script>a<b</script>2<STYLE x>c</Style\n>3", [b"1", b"2", b"3"]),
    "noscript": (b"1<noscript><p>no</noscript>2", [b"1", b"2"]),
    "script without end": (b"1<script>two</scripts>", [b"1", b"two</scripts>"]),
    "nested script": (b"1<script><!--<SCRIPT></script>2--></script>", [b"1", b"<!--<SCRIPT></script>2--></script>"]),
    "old script comment": (b"1<script><!--\na\n//--></script>2", [b"1", b"2"]),
    "end tag of script with attributes": (b"1<script>no</script a='>'>2", [b"1", b"2"]),
    "kept raw text": (
        b"<title>1</title><textarea><p>2</textarea><xmp><!--3</xmp><iframe>4</iframe>5",
        [b"1", b"<p>2", b"<!--3", b"4", b"5"],
    ),
    "old raw text": (b"<noembed><a></noembed><noframes><b></noframes>1", [b"<a>", b"<b>", b"1"]),
    "plaintext": (b"1<plaintext>2</plaintext><p>3", [b"1", b"2</plaintext><p>3"]),
    "template": (b"<template><p>1<style>no</style></template>2", [b"1", b"2"]),
    "col in a template": (b"<template><col><style></template>1</style>", [b"</template>1</style>"]),
    "style in svg is kept": (b"<svg><style>.a</style><g>1</g></svg>2<style>no</style>", [b".a", b"1", b"2"]),
    "empty style in svg": (b"<svg><text><style/>1</style>2", [b"1", b"2"]),
    "markup in a style in svg": (b"<svg><style><p>1</style>2", [b"<p>1</style>2"]),
    "svg that looks empty": (b"<svg x=/><style><p>1</style>2", [b"<p>1</style>2"]),
    "empty svg": (b"<svg x />1<style><p>no</style>2", [b"1", b"2"]),
    "shapes that are not closed": (b"<svg><g><path d=1><use></g></svg><style><p></style>1", [b"1"]),
    "tags not well nested in svg": (b"<svg><g></svg></g><style><p>1</style>", [b"<p>1</style>"]),
    "/ in HTML within svg": (b"<svg><desc><p/></desc></svg><style><p>1</style>", [b"<p>1</style>"]),
    "void elements within svg": (
        b"<svg><foreignObject><p>1<br/>2<img></p></foreignObject></svg><style><p>no</style>3",
        [b"1", b"2", b"3"],
    ),
    "math": (b"<math><mi>x</mi><mo>=</mo></math><script>'<b>'</script>1", [b"x", b"=", b"1"]),
    "style in math": (b"<math><style>1</style></math>", [b"1"]),
    "script in select": (b"<select><option>1<script>2</script></select><script>no</script>", [b"1", b"2"]),
    "markup in a script in select": (b"<select><script><p>1</script>2</select>", [b"<p>1</script>2</select>"]),
    "template in select": (b"<select><template></select></template><style>1</style>", [b"1"]),
    "UTF-16": ("\ufeff<p>1<!--2-->".encode("utf-16-le"), ["\ufeff<p>1<!--2-->".encode("utf-16-le")]),
    "UTF-16 without mark": ("<!--1-->".encode("utf-16-be"), ["<!--1-->".encode("utf-16-be")]),
    "ISO-2022-JP": (b"<!--\x1b$B-->\x1b(B<p>1", [b"<!--\x1b$B-->\x1b(B<p>1"]),
    "Shift JIS": (b"<p>\x83\x5c\x95\x5c<b>\x81</b>", [b"\x83\x5c\x95\x5c", b"\x81"]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize(("body", "lines"), LINES.values(), ids=LINES)
def test_the_lines_of_a_page(body: bytes, lines: list[bytes]) -> None:
    """The texts that a browser may show are kept in order; where a browser may read other tags, all the rest is."""
    assert visible_lines(body) == lines
    assert visible_content(body).text == hashlib.sha256(b"\n".join(lines)).hexdigest()


ATTRIBUTES: dict[str, tuple[bytes, list[bytes], list[bytes]]] = {
    "text attributes": (
        b"<img alt=' a  b ' title=c><input placeholder=d><option label=e>f<ol start=4>",
        [b"a b", b"c", b"d", b"e", b"f", b"4"],
        [],
    ),
    "empty values are no texts": (b"<img alt='' title=' '>", [], []),
    "values of controls": (
        b"<input value=a><button value=b><meter value=c><progress value=d><li value=5><option value=no>",
        [b"a", b"b", b"c", b"d", b"5"],
        [],
    ),
    "hidden input": (b"<input value=no type=HIDDEN><input type=' hidden' value=shown>", [b"shown"], []),
    "a page in an attribute": (b"<iframe srcdoc='<p>a'></iframe>", [b"<p>a"], []),
    "links": (
        b"<a HREF=' /x y '>t</a><img src=i.png srcset='a 1x, b 2x'><form action=''><use xlink:href=#a />",
        [b"t"],
        [b"href=/x y", b"src=i.png", b"srcset=a 1x, b 2x", b"action=", b"xlink:href=#a"],
    ),
    "more links": (
        b"<video poster=a><object data=b><button formaction=c><body background=d><q cite=e><img longdesc=f data-src=g>",
        [],
        [b"poster=a", b"data=b", b"formaction=c", b"background=d", b"cite=e", b"longdesc=f", b"data-src=g"],
    ),
    "no links of script and link": (b"<link href=a><script src=b></script><base href=c>", [], [b"href=c"]),
    "first of two attributes": (b"<a href=a HREF=b title=x title=y>", [b"x"], [b"href=a"]),
    "entities in values": (b"<a href='?a&amp;b'>", [], [b"href=?a&amp;b"]),
    "refresh": (
        b"<meta content='0; url=a' http-equiv=Refresh><meta http-equiv='&#82;efresh' content=b>",
        [],
        [b"content=0; url=a", b"content=b"],
    ),
    "other metas": (b"<meta name=description content=a><meta http-equiv=content-type content=b>", [], []),
    "end tags have no attributes": (b"<p></p title=a href=b>", [], []),
    "title is also an element": (b"<title>a</title><p title=b>", [b"a", b"b"], []),
    "not in dropped content": (b"<script>'<a href=a title=b>'</script><noscript><img src=c></noscript>", [], []),
    "in a template": (b"<template><a href=a></template>", [], [b"href=a"]),
}


@pytest.mark.parametrize(("body", "texts", "links"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_of_a_page(body: bytes, texts: list[bytes], links: list[bytes]) -> None:
    """Values that a browser shows are texts, and URLs of what readers can open or see are links."""
    padding = b"<p>" + LONG  # no script shell
    assert visible_content(body + padding) == _content([*texts, LONG], links)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<p>Loading<script src=app.js></script>", True),
        (b"<title>" + LONG + b"</title><p title='" + LONG + b"'><script></script>", True),
        (b"<svg><style>" + LONG + b"</style></svg><script></script>", True),
        (b"<p>" + LONG + b"<script></script>", False),
        (b"<p>" + b"x" * 60 + b"<p>" + b"y" * 40 + b"<script></script>", False),
        (b"<p>" + b"x" * 60 + b"<p>" + b"y" * 39 + b"<script></script>", True),
        (b"<p>short", False),
    ],
)
def test_script_shells(body: bytes, expected: bool) -> None:
    """A page with a script and fewer than a hundred bytes of text, titles and attributes not counted, is a shell."""
    assert visible_content(body).is_script_shell is expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("text/html", True),
        (" Text/HTML ; charset=utf-8", True),
        ("application/xhtml+xml", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_content_types_of_html(content_type: str, expected: bool) -> None:
    """Only text/html is read as HTML: browsers read XHTML as XML, with other rules for comments and scripts."""
    assert is_html(content_type) is expected


def test_changes_that_readers_do_not_see() -> None:
    """Scripts, styles, comments, white space, classes and the order of attributes within a tag are no content."""
    before = b"<p class=a>One  two<!-- 1 --><script nonce=1>x</script><a href=a title=b>three</a>"
    after = b"<p id=b>\nOne two<!-- 2 --><script nonce=2>y</script><a title=b id=c href=a >three</a>"
    assert visible_content(before) == visible_content(after)


HOSTILE = {
    "<": b"<",
    "tags": b"<a>",
    "unclosed tags": b"<a ",
    "comments": b"<!--",
    "comments that end early": b"<!-->",
    "comments in a script": b"<script><!--",
    "comments in scripts": b"<script><!--</script>",
    "quotes": b"<a b=\"'",
    "quotes of one kind": b'<a b="',
    "names and spaces": b"<a  =  ",
    "attributes": b" a=b",
    "end tags": b"</",
    "unclosed raw text": b"<title></titl",
    "svg": b"<svg><desc>",
    "svg and style": b"<svg><style></style>",
    "closed svg": b"<svg/><svg></svg>",
    "slashes": b"<svg /////",
    "select": b"<select><textarea>x</textarea>",
    "templates": b"<template><col>",
    "spaces": b" \t\n",
    "declarations": b"<!x><?x>",
    "CDATA": b"<![CDATA",
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fragment", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("prefix", [b"", b"<a ", b"<script>", b"<svg><desc>"])
def test_hostile_pages_take_linear_time(fragment: bytes, prefix: bytes) -> None:
    """A megabyte of any fragment is read to the end; in quadratic time, it would take hours."""
    body = prefix + fragment * (1_000_000 // len(fragment))
    assert visible_lines(body + b" end")[-1].endswith(b"end")
    assert visible_content(body + b" end").text != visible_content(body + b" end.").text


DEFINITION = Path(__file__).parents[2] / "docs/reference/visible-content.md"
EXAMPLE = re.compile(r"^\| `(.+?)` \|(.*)\|(.*)\|$", re.MULTILINE)
"""A row of the table of examples: a page, its texts, its links."""


def test_the_examples_of_the_definition() -> None:
    """The table in the documentation states the texts and links that the scan finds."""
    examples = EXAMPLE.findall(DEFINITION.read_text("utf-8"))
    assert len(examples) == 9
    for body, texts, links in examples:
        page, lines, addresses = (
            body.encode(),
            [text.encode() for text in re.findall("`(.+?)`", texts)],
            [link.encode() for link in re.findall("`(.+?)`", links)],
        )
        found = visible_content(page)
        assert (found.text, found.links) == (_content(lines, addresses).text, _content(lines, addresses).links), body
