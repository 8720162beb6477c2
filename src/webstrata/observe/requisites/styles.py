"""Addresses in style sheets: `url(…)`, `@import` and the strings of `image-set(…)`.

The sheets are split into tokens (comments, strings, addresses, parentheses) and not parsed by a grammar. Every address
that a browser might fetch is found, and sometimes one that it would not (a font for another language, a rule for
printing). Whatever follows the address of an import (`layer(…)`, `supports(…)`, media queries) is of no importance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING = r'"((?:[^"\\\n]|\\.){0,4000})"' + "|" + r"'((?:[^'\\\n]|\\.){0,4000})'"
_SPACE = r"(?:\s{1,99}|/\*[^*]{0,200}\*/){0,9}"
_TOKENS = re.compile(
    r"/\*(?:.*?\*/|.*)"
    rf"|url\(\s{{0,99}}(?:{_STRING}|((?>[^\"'()\\\s]|\\[0-9a-f]{{1,6}}\s?|\\.){{0,4000}}))\s{{0,99}}\)"
    rf"|@import{_SPACE}(?:{_STRING})"
    r"|@namespace\b[^;{}]{0,999}"
    r"|(?P<set>image-set\()|(?P<open>\()|(?P<close>\))|(?P<end>[{};])"
    rf"|(?P<string>{_STRING})",
    re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.DOTALL | re.IGNORECASE)


def style_addresses(sheet: str) -> Iterator[str]:
    """The addresses in a style sheet or a `style` attribute as written, with escapes replaced."""
    depth = 0
    """Parentheses since the beginning of an `image-set`, whose strings are addresses at the depth 1."""
    for token in _TOKENS.finditer(sheet):
        kind = token.lastgroup
        if kind == "set":
            depth = 1
        elif kind == "open":
            depth += depth > 0
        elif kind == "close":
            depth -= depth > 0
        elif kind == "end":
            depth = 0
        elif (kind != "string" or depth == 1) and token.lastindex is not None:
            yield _ESCAPE.sub(_unescaped, _written(token)).strip()


def _written(token: re.Match[str]) -> str:
    """The address in a token: the last group that has matched, which is the innermost."""
    return next((group for group in reversed(token.groups()) if group is not None), "")


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else -1
    if code >= 0:
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "" if escape[2] == "\n" else escape[2]
