"""RDF terms spelled as N-Quads. Whatever they hold, the line stays one line."""

from __future__ import annotations

import re

_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOT_IN_STRING = re.compile(r'["\\\n\r\t\x00-\x1f\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def iri(value: str) -> str:
    return f"<{_NOT_IN_IRI.sub(_numbered, value)}>"


def literal(value: str, language: str = "", datatype: str = "") -> str:
    text = f'"{_NOT_IN_STRING.sub(_escaped, value)}"'
    if language:
        return f"{text}@{language}"
    return f"{text}^^{iri(datatype)}" if datatype else text


def _numbered(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04X}"


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found.group()) or _numbered(found)
