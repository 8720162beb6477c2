"""Addresses in scripts: modules that are imported or exported from, and files named relative to a module.

Found are `import "…"`, `import … from "…"`, `export … from "…"`, `import("…")` and `importScripts("…")` with literal
strings, and `new URL("…", import.meta.url)`, which bundlers write for workers and images. Of modules only relative and
absolute addresses count: other names are defined by an import map, whose addresses are found in the page.

Scripts are split into tokens (comments, strings, templates, regular expressions, imports) and not parsed by a grammar.
A slash after `(`, `,`, `=`, `:`, `[`, `!`, `&`, `|`, `?`, `{`, `;` or `return` begins a regular expression. Every
token that is not closed ends at the end of the line or of the script, so that the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LITERAL = r'(?:"((?:[^"\\\n]|\\.){0,2000}+)"|' + r"'((?:[^'\\\n]|\\.){0,2000}+)'|" + r"`([^`\\$]{0,2000}+)`)"
_COMMENT = r"(?:/\*[^*]{0,300}\*/\s{0,99})?"
_START = r"(?<![\w$.#])"
_CHARACTER_CLASS = r"\[(?:[^\]\\\n]++|\\.)*+(?:\]|(?=\n)|\Z)"
_TOKENS = re.compile(
    r"//[^\n]*+|/\*(?:.*?\*/|.*)"
    rf"|(?:[(,=:\[!&|?{{;]|\breturn)[ \t]*+/(?![*/])(?:[^/\\\[\n]++|\\.|{_CHARACTER_CLASS})*+(?:/|(?=\n)|\Z)"
    rf"|(?P<module>{_START}(?:import\s{{0,99}}\(\s{{0,99}}{_COMMENT}{_LITERAL}(?=\s{{0,99}}[,)])"
    rf"|(?:import|from)\s{{0,99}}{_LITERAL}))"
    rf"|(?P<file>{_START}(?:new\s{{1,9}}URL\(\s{{0,99}}{_LITERAL}(?=\s{{0,99}},\s{{0,99}}import\.meta\.url\b)"
    rf"|importScripts\(\s{{0,99}}{_LITERAL}))"
    r'|"(?:[^"\\\n]++|\\.)*+(?:"|(?=\n)|\Z)'
    r"|'(?:[^'\\\n]++|\\.)*+(?:'|(?=\n)|\Z)"
    r"|`(?:[^`\\]++|\\.)*+(?:`|\Z)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ADDRESS = ("/", "./", "../", "http://", "https://")


def script_addresses(script: str) -> Iterator[str]:
    """The addresses in a script as written, with escapes replaced."""
    for token in _TOKENS.finditer(script):
        kind = token.lastgroup
        if kind is None:
            continue
        address = _ESCAPE.sub(_unescaped, next(group for group in reversed(token.groups()) if group is not None))
        if kind == "file" or address.startswith(_ADDRESS):
            yield address


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits is None:
        return "" if escape[4] == "\n" else escape[4]
    code = int(digits, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
