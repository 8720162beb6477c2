"""CSS and XPath rules: the parts of an HTML or XML document that are to be compared, as lines of text.

CSS runs on the tree that the fingerprint is taken of. XPath (1.0, without any function that reads files, addresses or
the environment, and without regular expressions) runs on a copy of that tree in libxml2. Neither changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from webstrata.errors import UsageError
from webstrata.observe.html.tree import parse, remove_invisible, text_lines

_LONGEST = 500
_MOST_MATCHES = 5_000
_WIDE = ("//", "descendant", "ancestor", "following", "preceding")
_MOST_WIDE = 4
"""Steps of an XPath that look at a whole tree: each may multiply the work by the number of nodes."""


def check_css(selector: str) -> None:
    """A `UsageError` says what is wrong with a CSS selector."""
    _check_length(selector)
    try:
        LexborHTMLParser("<p>").css(selector)
    except SelectolaxError as wrong:
        raise UsageError(f"{selector!r} is no CSS selector that can be used here") from wrong


@lru_cache(maxsize=256)
def xpath(expression: str) -> etree.XPath:
    """The compiled expression; a `UsageError` says what is wrong with it."""
    _check_length(expression)
    if sum(expression.count(step) for step in _WIDE) > _MOST_WIDE:
        raise UsageError(f"{expression!r} searches the whole tree more than {_MOST_WIDE} times (//, descendant, …)")
    try:
        made = etree.XPath(expression, regexp=False, smart_strings=False)
        made(etree.Element("p"))  # unknown functions and prefixes show only now
    except etree.XPathError as wrong:
        raise UsageError(f"{expression!r} is no XPath 1.0 that can be used here: {wrong}") from wrong
    return made


def _check_length(expression: str) -> None:
    if not expression.strip() or len(expression) > _LONGEST:
        raise UsageError(f"an expression must have 1 to {_LONGEST} characters: {expression[:80]!r}")


# ── HTML ────────────────────────────────────────────────────────────────────────────────────────────────────


def select_html(
    html: str, include: list[tuple[str, str]], ignore: list[tuple[str, str]]
) -> tuple[str, list[str]] | None:
    """(Text in lines, rules that matched nothing); None where the page is too costly to have a tree."""
    tree = parse(html)
    if tree is None:
        return None
    remove_invisible(tree)
    missed: list[str] = []
    copy = None
    if any(kind == "xpath" for kind, _ in (*ignore, *include)):
        tree, copy = _without_both(tree, ignore, missed)
    else:
        for node in _outermost(_marked(tree, ignore, missed)):
            node.decompose()
    if not include:
        return text_lines(tree), missed
    lines: list[str] = []
    for kind, rule in include:
        found = _css_texts(tree, rule) if kind == "css" else _xpath_texts(copy, rule)
        if not found:
            missed.append(f"{kind}:{rule}")
        lines += found
    return "\n".join(lines), missed


def _marked(tree: LexborHTMLParser, ignore: list[tuple[str, str]], missed: list[str]) -> list[LexborNode]:
    """What the CSS rules find, all of them in the whole tree: no rule sees what another would leave."""
    found: dict[int, LexborNode] = {}
    for rule in [rule for kind, rule in ignore if kind == "css"]:
        nodes = tree.css(rule)[:_MOST_MATCHES]
        found.update({node.mem_id: node for node in nodes})
        if not nodes:
            missed.append(f"css:{rule}")
    return list(found.values())


def _without_both(
    tree: LexborHTMLParser, ignore: list[tuple[str, str]], missed: list[str]
) -> tuple[LexborHTMLParser, etree._Element]:
    """Without what CSS and XPath rules find, each in the whole tree; as a tree for either."""
    marked = _marked(tree, ignore, missed)
    for node in marked:
        node.attrs[_MARK] = ""  # so that it is known in the copy
    copy = _as_lxml(tree)
    paths = [rule for kind, rule in ignore if kind == "xpath"]
    gone: list[object] = []
    for rule in paths:
        found = _results(copy, rule)
        gone += found
        if not found:
            missed.append(f"xpath:{rule}")
    gone += copy.xpath(f"//*[@{_MARK}]") if marked else []
    for one in gone:
        if isinstance(one, etree._Element):
            _remove(one)
    if gone:
        tree = LexborHTMLParser(etree.tostring(copy, encoding="unicode", method="html"))
    return tree, copy


_MARK = "webstrata-ignored"


def _css_texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    texts = (text_lines(LexborHTMLParser(node.html or "")) for node in _outermost(tree.css(selector)[:_MOST_MATCHES]))
    return [text for text in texts if text]


def _outermost(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """Those of the nodes, in whatever order, that do not lie in another."""
    found = list(nodes)
    taken = {node.mem_id for node in found}
    kept = []
    for node in found:
        above = node.parent
        while above is not None and above.mem_id not in taken:
            above = above.parent
        if above is None:
            kept.append(node)
    return kept


def _as_lxml(tree: LexborHTMLParser) -> etree._Element:
    parser = etree.HTMLParser(no_network=True, recover=True, remove_comments=True, remove_pis=True)
    # NUL and other controls would stop libxml2, which says nothing of what it left out.
    html = (tree.html or "").translate(_CONTROLS)
    made = etree.fromstring(html, parser) if html.strip() else None
    return etree.Element("html") if made is None else made


_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32)])


def _remove(node: etree._Element) -> None:
    """Take an element out and leave the text behind it."""
    above = node.getparent()
    if above is None:
        for child in list(node):
            node.remove(child)
        node.text = None
        return
    if node.tail:
        before = node.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + node.tail
        else:
            above.text = (above.text or "") + node.tail
    above.remove(node)


def _results(root: etree._Element, expression: str) -> list[object]:
    """What an expression finds: elements, strings (of attributes and texts), a number or a truth."""
    found = xpath(expression)(root)
    results = list(found[:_MOST_MATCHES]) if isinstance(found, list) else [found]
    return [one for one in results if one not in ("", None, False)]


def _xpath_texts(root: etree._Element | None, expression: str) -> list[str]:
    texts: list[str] = []
    for one in [] if root is None else _results(root, expression):
        if isinstance(one, etree._Element):
            html = etree.tostring(one, encoding="unicode", method="html", with_tail=False)
            texts.append(text_lines(LexborHTMLParser(html)))
        else:
            texts.append(_scalar(one))
    return [text for text in texts if text]


def _scalar(one: object) -> str:
    if isinstance(one, float):
        return f"{one:.15g}"
    return " ".join(str(one).split())


# ── XML ─────────────────────────────────────────────────────────────────────────────────────────────────────


def select_xml(body: bytes, include: list[str], ignore: list[str]) -> tuple[str, list[str]] | None:
    """The same for XML, by XPath only, attributes and all; None where it is not well-formed, or wants entities."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    found_by = {rule: _results(root, rule) for rule in ignore}
    missed = [f"xpath:{rule}" for rule, found in found_by.items() if not found]
    for node in [node for found in found_by.values() for node in found]:
        if isinstance(node, etree._Element):
            _remove(node)
    lines: list[str] = [] if include else list(_xml_lines(root))
    for rule in include:
        found = _results(root, rule)
        if not found:
            missed.append(f"xpath:{rule}")
        for one in found:
            lines += _xml_lines(one) if isinstance(one, etree._Element) else [_scalar(one)]
    return "\n".join(lines), missed


def _xml_lines(root: etree._Element) -> Iterator[str]:
    """One line for each element: its name, its attributes in order of name, its own text."""
    for node in root.iter(etree.Element):
        attributes = "".join(f" {_local(name)}={value}" for name, value in sorted(node.attrib.items()))
        own = " ".join("".join([node.text or "", *(child.tail or "" for child in node)]).split())
        yield f"{_local(node.tag)}{attributes}: {own}" if own else f"{_local(node.tag)}{attributes}"


def _local(name: object) -> str:
    return str(name).rpartition("}")[2]
