"""`PageEvidence`: what is known of a response that may be an error page, and the texts that are derived from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property

from webstrata.records import Fingerprint

MAX_TEXT_CHARS = 4_000
"""A longer main text is not an error page, apart from those that debuggers make."""
MAX_SPACES = 150
"""The same as a number of spaces."""
MAX_MARKUP_BYTES = 65_536
"""Markers are searched in this many bytes of the markup only."""
_WIDE = re.compile("[⺀-鿿가-힯豈-﫿]")
"""Characters of scripts that are written without spaces; one of them says as much as three letters."""


class PageEvidence:
    """A response with content, and the addresses and versions it belongs to. Texts are computed at their first use."""

    def __init__(
        self,
        *,
        requested: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes,
        title: str | None,
        read_text: Callable[[], str],
        read_main: Callable[[], str],
        now: Fingerprint,
        is_short: bool = True,
        before: Fingerprint | None = None,
        failures: int = 0,
        selects: bool = False,
    ) -> None:
        """`requested`: the page's URL; `address`: that of the response. `read_text` computes the useful text with the
        title as its first line, `read_main` that of the main content, without title and menus. `is_short`: the text has
        fewer than `MAX_SPACES` spaces. `before`: the page's last content. `failures`: failed visits in a row before
        this one. `selects`: the page's rules select a part of this content."""
        self.requested = requested
        self.address = address
        self.headers = headers
        self.body = body
        self.title = (title or "").strip()
        self.now = now
        self.is_short = is_short
        self.before = before
        self.failures = failures
        self.selects = selects
        self._read_text = read_text
        self._read_main = read_main

    @property
    def is_redirected(self) -> bool:
        return bool(self.address) and self.address != self.requested

    @cached_property
    def text(self) -> str:
        """The useful text, with the title as its first line."""
        return self._read_text()

    @cached_property
    def main(self) -> str:
        """The text of the main content, in lines."""
        return self._read_main()

    @cached_property
    def markup(self) -> str:
        """The beginning of the body, in lower case, each byte as one character."""
        return self.body[:MAX_MARKUP_BYTES].decode("latin-1").lower()

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the main text."""
        return [line for line in self.main.split("\n") if line]

    @cached_property
    def length(self) -> int:
        """The length of the main text in letters."""
        return len(self.main) + 2 * len(_WIDE.findall(self.main))
