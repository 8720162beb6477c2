"""Selects the kernel: the compiled functions if the build produced them, else the same functions in Python.

Both return the same values for every input (tests/observe/kernel compares them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from selectolax.lexbor import LexborNode

from webstrata.compiled import is_compiled
from webstrata.observe.kernel.results import BodyOutline, LinkTable


class ObserveKernel(Protocol):
    """What a kernel of `observe` computes; the modules `library` and `python` are the two implementations."""

    def outline_body(self, body: LexborNode) -> BodyOutline | None:
        """The outline of a body element by the rules of docs/reference/fingerprint.md."""

    def collect_links(
        self,
        hrefs: bytes,
        spans: bytes | None,
        *,
        root: bytes,
        folder: bytes,
        home: str,
        resolve: Callable[[str], str | None],
    ) -> LinkTable:
        """The URLs that these addresses lead to.

        `hrefs` are in UTF-8, each followed by a 0. `spans` (pairs of int32) selects ranges of them; None selects all,
        and only then are hashes computed. `root` and `folder` are the canonical URLs of the site's root and of the
        page's folder; an empty one cannot be used as a prefix. `resolve` returns the canonical URL of an address, or
        None. `home` is the page's host without `www.`.
        """

    def link_rows(self, packed: bytes) -> bytes:
        """For each URL or contact, each followed by a 0: uint64 hash of its text, uint32 hash of its shape."""

    def may_hide(self, markup: str) -> bool:
        """Whether markup in ASCII may have a comment or an invisible element."""

    def scan_text(self, markup: str) -> str:
        """The text of markup without building a tree, with a line feed where a line ends."""

    def simhash(self, text: bytes) -> int:
        """The simhash of at least one word; words are in UTF-8 and separated by one space."""


def select_kernel(*, compiled: bool) -> ObserveKernel:
    """The compiled kernel or the one in Python."""
    if compiled:
        from webstrata.observe.kernel import library

        return library
    from webstrata.observe.kernel import python

    return python


KERNEL = select_kernel(compiled=is_compiled("observe"))
"""The kernel that this installation runs."""
