"""CSS and XPath rules: select the parts of an HTML or XML document to compare, as lines of text.

CSS selectors run on the tree from which the fingerprint is computed. XPath runs on a copy of that tree in libxml2:
XPath 1.0 without regular expressions and without functions that access files, URLs or the environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from webstrata.errors import UsageError
from webstrata.observe.html.tree import parse, remove_invisible, text_lines

_MAX_LENGTH = 500
_MAX_MATCHES = 5_000
_WIDE = ("//", "descendant", "ancestor", "following", "preceding")
_MAX_WIDE = 4
"""Steps of an XPath that search the whole tree; each may multiply the work by the number of nodes."""


def check_css(selector: str) -> None:
    """Check a CSS selector. Raises `UsageError` with the reason."""
    _check_length(selector)
    try:
        LexborHTMLParser("<p>").css(selector)
    except SelectolaxError as error:
        raise UsageError(f"{selector!r} is not a supported CSS selector") from error


@lru_cache(maxsize=256)
def xpath(expression: str) -> etree.XPath:
    """The compiled expression. Raises `UsageError` with the reason if it is invalid."""
    _check_length(expression)
    if sum(expression.count(step) for step in _WIDE) > _MAX_WIDE:
        raise UsageError(f"{expression!r} searches the whole tree more than {_MAX_WIDE} times (//, descendant, …)")
    try:
        compiled = etree.XPath(expression, regexp=False, smart_strings=False)
        compiled(etree.Element("p"))  # unknown functions and prefixes are only detected here
    except etree.XPathError as error:
        raise UsageError(f"{expression!r} is not a supported XPath 1.0 expression: {error}") from error
    return compiled


def _check_length(expression: str) -> None:
    if not expression.strip() or len(expression) > _MAX_LENGTH:
        raise UsageError(f"an expression must have 1 to {_MAX_LENGTH} characters: {expression[:80]!r}")


# ── HTML ────────────────────────────────────────────────────────────────────────────────────────────────────


def select_html(
    html: str, include: list[tuple[str, str]], ignore: list[tuple[str, str]]
) -> tuple[str, list[str]] | None:
    """(Text in lines, rules that matched nothing); None if the page is too costly to parse into a tree."""
    tree = parse(html)
    if tree is None:
        return None
    remove_invisible(tree)
    missed: list[str] = []
    copy = None
    if any(kind == "xpath" for kind, _ in (*ignore, *include)):
        tree, copy = _without_matches(tree, ignore, missed)
    else:
        for node in _outermost(_css_matches(tree, ignore, missed)):
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


def _css_matches(tree: LexborHTMLParser, ignore: list[tuple[str, str]], missed: list[str]) -> list[LexborNode]:
    """The nodes that the CSS rules match. Each rule is applied to the whole tree, before any node is removed."""
    found: dict[int, LexborNode] = {}
    for rule in [rule for kind, rule in ignore if kind == "css"]:
        nodes = tree.css(rule)[:_MAX_MATCHES]
        found.update({node.mem_id: node for node in nodes})
        if not nodes:
            missed.append(f"css:{rule}")
    return list(found.values())


def _without_matches(
    tree: LexborHTMLParser, ignore: list[tuple[str, str]], missed: list[str]
) -> tuple[LexborHTMLParser, etree._Element]:
    """Remove the nodes that CSS and XPath rules match. Returns the tree for CSS and the copy for XPath."""
    marked = _css_matches(tree, ignore, missed)
    for node in marked:
        node.attrs[_MARKER] = ""  # marks the node in the copy
    copy = _as_lxml(tree)
    paths = [rule for kind, rule in ignore if kind == "xpath"]
    removed: list[object] = []
    for rule in paths:
        found = _results(copy, rule)
        removed += found
        if not found:
            missed.append(f"xpath:{rule}")
    removed += copy.xpath(f"//*[@{_MARKER}]") if marked else []
    for result in removed:
        if isinstance(result, etree._Element):
            _remove(result)
    if removed:
        tree = LexborHTMLParser(etree.tostring(copy, encoding="unicode", method="html"))
    return tree, copy


_MARKER = "webstrata-ignored"


def _css_texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    texts = (text_lines(LexborHTMLParser(node.html or "")) for node in _outermost(tree.css(selector)[:_MAX_MATCHES]))
    return [text for text in texts if text]


def _outermost(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """The nodes that are not inside another of the nodes."""
    candidates = list(nodes)
    ids = {node.mem_id for node in candidates}
    outermost = []
    for node in candidates:
        parent = node.parent
        while parent is not None and parent.mem_id not in ids:
            parent = parent.parent
        if parent is None:
            outermost.append(node)
    return outermost


def _as_lxml(tree: LexborHTMLParser) -> etree._Element:
    parser = etree.HTMLParser(no_network=True, recover=True, remove_comments=True, remove_pis=True)
    # libxml2 stops at NUL and other control characters without an error.
    html = (tree.html or "").translate(_CONTROLS)
    root = etree.fromstring(html, parser) if html.strip() else None
    return etree.Element("html") if root is None else root


_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32)])


def _remove(node: etree._Element) -> None:
    """Remove an element and keep the text after it."""
    parent = node.getparent()
    if parent is None:
        for child in list(node):
            node.remove(child)
        node.text = None
        return
    if node.tail:
        before = node.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + node.tail
        else:
            parent.text = (parent.text or "") + node.tail
    parent.remove(node)


def _results(root: etree._Element, expression: str) -> list[object]:
    """The results of an expression: elements, strings (of attributes and texts), a number or a boolean."""
    found = xpath(expression)(root)
    results = list(found[:_MAX_MATCHES]) if isinstance(found, list) else [found]
    return [result for result in results if result not in ("", None, False)]


def _xpath_texts(root: etree._Element | None, expression: str) -> list[str]:
    texts: list[str] = []
    for result in [] if root is None else _results(root, expression):
        if isinstance(result, etree._Element):
            html = etree.tostring(result, encoding="unicode", method="html", with_tail=False)
            texts.append(text_lines(LexborHTMLParser(html)))
        else:
            texts.append(_scalar(result))
    return [text for text in texts if text]


def _scalar(result: object) -> str:
    if isinstance(result, float):
        return f"{result:.15g}"
    return " ".join(str(result).split())


# ── XML ─────────────────────────────────────────────────────────────────────────────────────────────────────


def select_xml(body: bytes, include: list[str], ignore: list[str]) -> tuple[str, list[str]] | None:
    """Like `select_html` for XML, with XPath only; the lines include attributes. None if it is not well-formed."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    matches = {rule: _results(root, rule) for rule in ignore}
    missed = [f"xpath:{rule}" for rule, found in matches.items() if not found]
    for node in [node for found in matches.values() for node in found]:
        if isinstance(node, etree._Element):
            _remove(node)
    lines: list[str] = [] if include else list(_xml_lines(root))
    for rule in include:
        found = _results(root, rule)
        if not found:
            missed.append(f"xpath:{rule}")
        for result in found:
            lines += _xml_lines(result) if isinstance(result, etree._Element) else [_scalar(result)]
    return "\n".join(lines), missed


def _xml_lines(root: etree._Element) -> Iterator[str]:
    """One line for each element: its name, its attributes sorted by name, its own text."""
    for node in root.iter(etree.Element):
        attributes = "".join(f" {_local(name)}={value}" for name, value in sorted(node.attrib.items()))
        own = " ".join("".join([node.text or "", *(child.tail or "" for child in node)]).split())
        yield f"{_local(node.tag)}{attributes}: {own}" if own else f"{_local(node.tag)}{attributes}"


def _local(name: object) -> str:
    return str(name).rpartition("}")[2]
