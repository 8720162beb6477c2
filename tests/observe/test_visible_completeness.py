"""Nothing that a browser shows is missing in the visible text and links: compared with the tree of an HTML parser."""

from __future__ import annotations

import gzip
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from webstrata.observe.visible import visible_content, visible_lines

DATA = Path(__file__).parents[1] / "data"
PAGES = sorted([*DATA.rglob("*.html"), *DATA.rglob("*.html.gz")])

NOT_SHOWN = {"script", "style", "noscript", "template", "iframe", "noembed", "noframes"}
FOREIGN = {"svg", "math"}
"""In these, elements of the names above are others, and may be shown."""
SHOWN_ATTRIBUTES = {"alt", "label", "placeholder", "srcdoc", "title", "href", "src", "action"}


def _shown(html: str) -> list[str]:
    """The texts and values of attributes that a browser with scripting enabled shows, from the tree that it builds."""
    shown = []
    root = LexborHTMLParser(html, scripting=True).root
    assert root is not None
    for node in root.traverse(include_text=True):
        if node.tag == "-text":
            around, parent = set(), node.parent
            while parent is not None:
                around.add(parent.tag)
                parent = parent.parent
            if not around & NOT_SHOWN or around & FOREIGN:
                shown.append(node.text_content or "")
        elif node.tag not in ("script", "link"):
            shown += [value or "" for name, value in node.attributes.items() if name.lower() in SHOWN_ATTRIBUTES]
    return shown


def _page(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: "-".join(file.parts[-3:])[-60:])
def test_real_pages(file: Path) -> None:
    """Every word that a browser shows of a real page is in its lines, and its scripts are not."""
    body = _page(file)
    text = b"\n".join(visible_lines(body))
    lines = unescape(text.decode())
    root = LexborHTMLParser(body.decode(), scripting=True).root
    assert root is not None
    words = [
        word
        for node in root.traverse(include_text=True)
        if node.tag == "-text" and node.parent is not None and node.parent.tag not in NOT_SHOWN
        for word in (node.text_content or "").split()
    ]
    assert len(words) > 50
    assert not [word for word in words if word not in lines]
    assert b"</" not in text  # the scan did not give up: no markup is among the text


WORDS = ("visible1", "visible2", "visible3")

NESTABLE = (
    *("svg", "math", "mi", "mtext", "desc", "foreignObject", "annotation-xml", "select", "option", "optgroup"),
    *("template", "table", "tr", "td", "caption", "colgroup", "p", "a", "b", "i"),
    *("div", "g", "path", "text", "form", "button", "h1", "li", "span", "nobr"),
    *("body", "html", "frameset", "font", "object", "mglyph", "ruby", "rt"),
)
TAGS = (
    *NESTABLE,
    *("title", "textarea", "style", "script", "noscript", "xmp", "iframe", "noembed", "noframes"),
)
MARKUP = [
    *(f"<{name}>" for name in TAGS),
    *(f"</{name}>" for name in TAGS),
    *(f"<{name}/>" for name in TAGS),
]
VOID = ["<br>", "</br>", "<col>", "<hr>", "<input>", "<img>", "<image>", "<keygen>", "<plaintext>", "<!doctype html>"]
BROKEN = [
    *("<!--", "-->", "--!>", "<!-->", "<!--->", "<![CDATA[", "]]>", "<?x", ">", "<", "</", "<!", "/", "=", '"', "'"),
    *("<p", '<a title="', '">', "='", "'>", '<a href="', "<img alt='", "<svg x=/>", "<math y='/'/>", "<font color=x>"),
    *("</style x='", '</script y="', "<style type='", "<annotation-xml encoding='text/html'>", "<input value=' "),
]
PROBES = [
    "<style/>visible1</style>",
    "<style>visible1</style>",
    "<style></svg><p>visible1</style>",
    "<script></desc></svg></math><p>visible1</script>",
    "<noscript></select></template><p>visible1</noscript>",
    "<textarea></template></table><!--</textarea>visible1",
]
"""Elements whose content is shown if a browser is in another state than the scan."""

FRAGMENTS = st.lists(st.sampled_from([*MARKUP, *VOID, *BROKEN, *WORDS * 8]), max_size=30)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda name, parts, has_end: f"<{name}>{''.join(parts)}" + f"</{name}>" * has_end,
        st.sampled_from(NESTABLE),
        st.lists(inner, max_size=4),
        st.sampled_from([True, True, True, False]),
    )


NESTED = st.recursive(st.sampled_from([*MARKUP, *VOID, *WORDS]), _nested, max_leaves=12)


def _check(html: str) -> None:
    """If a shown word becomes another word, then the digest of the text or of the links becomes another one."""
    body = html.encode()
    content = visible_content(body)
    shown = " ".join(_shown(html))
    for word in WORDS:
        if word in shown:
            changed = visible_content(body.replace(word.encode(), b"other"))
            assert (changed.text, changed.links) != (content.text, content.links)


@settings(max_examples=3000, derandomize=True, database=None)
@given(FRAGMENTS)
def test_fragments_in_any_order(parts: list[str]) -> None:
    """No sequence of comments, quotes and tags hides a word that a browser shows."""
    _check("".join(parts))


@settings(max_examples=3000, derandomize=True, database=None)
@given(st.lists(NESTED, max_size=5), st.sampled_from(PROBES))
def test_raw_text_after_nested_elements(parts: list[str], probe: str) -> None:
    """No nesting of svg, math, select, tables and templates makes the scan drop a style that a browser shows."""
    _check("".join(parts) + probe)


@pytest.mark.parametrize(
    "html",
    [
        "<svg><text><style/>visible1</style>",
        "<svg x=/><style><p>visible1</style>",
        "<math><style>visible1</style>",
        "<math></svg><script><p>visible1</script>",
        "<template><col><style></template>visible1</style>",
        "<svg><desc><p/></desc></svg></p></desc><text><style/>visible1</style>",
        "<iframe srcdoc=visible1></iframe>",
        "<script><!--</script>visible1<!--<script></script>-->",
        "<script><!--<script></script>--></script>visible1",
        "<a title='visible1>visible2",
        "<p>visible1</p><!-- --!>visible2-->",
    ],
)
def test_places_where_browsers_leave_the_usual_rules(html: str) -> None:
    """Pages that are written to hide a word from a scan of bytes do not succeed."""
    shown = " ".join(_shown(html))
    if "title='" not in html:  # browsers drop a tag without end: all of it is text here
        assert "visible1" in shown
    _check(html)
    assert b"visible1" in b" ".join(visible_lines(html.encode())) or "srcdoc" in html
