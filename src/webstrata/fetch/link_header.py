"""The Link header (RFC 8288): typed links that an answer gives beside its body."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from webstrata import urls

_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[^\s=;,"<>]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s";,<>]*))?)*)')
_PARAMETER = re.compile(r';\s*([^\s=;,"<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,<>]*)))?')
_LONGEST = 65_536
_MOST_LINKS = 200


class HeaderLink(Struct, frozen=True, kw_only=True):
    url: str
    rels: frozenset[str]
    type: str = ""


def read_links(values: Iterable[str], base: str) -> list[HeaderLink]:
    """Links of all Link headers of an answer from `base`, in order; those that cannot be visited are left out."""
    found: list[HeaderLink] = []
    for value in values:
        for target, rest in _LINK.findall(value[:_LONGEST]):
            parameters: dict[str, str] = {}
            for name, quoted, plain in _PARAMETER.findall(rest):
                parameters.setdefault(name.lower(), quoted or plain)
            url = urls.join(base, target)
            if url is None or "anchor" in parameters:  # an anchored link speaks of another page
                continue
            rels = frozenset(parameters.get("rel", "").lower().split())
            media_type = parameters.get("type", "").partition(";")[0].strip().lower()
            found.append(HeaderLink(url=url, rels=rels, type=media_type))
            if len(found) == _MOST_LINKS:
                return found
    return found
