"""The compiled kernel: the C functions with their argument types, and the functions of the interface on top of them.

Importing this module fails where `kernel.so` was not built; `choice.py` then selects `python.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint64, c_void_p
from html import unescape
from struct import iter_unpack

import numpy as np
from selectolax.lexbor import LexborNode

from webstrata.compiled import load_library
from webstrata.observe.kernel.reserialise import reserialise
from webstrata.observe.kernel.results import BodyOutline, LinkTable, Span, composed

_VERSION = 3
"""The version of the functions and fields below; kernel.h has the same number."""

READ, UNCLEAR, NO_MEMORY = range(3)
"""The status of a page: parsed; ambiguous serialisation; out of memory."""

_SPAN_BYTES = 8
_LINK_ROW_BYTES = 12


class KernelBuffer(Structure):
    """Bytes in memory that the kernel has allocated."""

    _fields_ = (("data", c_void_p), ("length", c_size_t), ("room", c_size_t))

    def copy(self) -> bytes:
        return ctypes.string_at(self.data, self.length) if self.length else b""

    def strings(self) -> list[str]:
        """The texts of a buffer in which each is followed by a 0."""
        return self.copy()[:-1].decode("utf-8", "replace").split("\0") if self.length else []

    def spans(self) -> list[Span]:
        return list(iter_unpack("=ii", self.copy()))


class KernelPage(Structure):
    """The first fields of `page` (kernel.h)."""

    _fields_ = (
        ("status", c_int32),
        ("is_composed", c_int32),
        ("text", KernelBuffer),
        ("linked", KernelBuffer),
        ("hrefs", KernelBuffer),
        ("pointers", KernelBuffer),
        ("line_ends", KernelBuffer),
        ("main_lines", KernelBuffer),
        ("body_lines", KernelBuffer),
        ("main_links", KernelBuffer),
    )

    def outline(self) -> BodyOutline:
        return BodyOutline(
            text=self.text.copy(),
            line_ends=np.frombuffer(self.line_ends.copy(), dtype=np.int32),
            hrefs=self.hrefs.copy(),
            pointers=self.pointers.copy(),
            main_lines=self.main_lines.spans(),
            body_lines=self.body_lines.spans(),
            main_links=self.main_links.copy(),
        )


class KernelLinks(Structure):
    """The first fields of `links` (kernel.h)."""

    _fields_ = (
        ("status", c_int32),
        ("internal", c_int32),
        ("external", c_int32),
        ("documents", c_int32),
        ("hard", KernelBuffer),
        ("urls", KernelBuffer),
        ("sorted_texts", KernelBuffer),
        ("hashes", KernelBuffer),
        ("contacts", KernelBuffer),
    )


_library = load_library("observe", _VERSION)

page_read = _library.page_read
page_read.argtypes, page_read.restype = [c_char_p, c_size_t, c_int], POINTER(KernelPage)
page_recompose = _library.page_recompose
page_recompose.argtypes, page_recompose.restype = [POINTER(KernelPage), c_char_p, c_size_t, c_char_p, c_size_t], None
page_finish = _library.page_finish
page_finish.argtypes, page_finish.restype = [POINTER(KernelPage)], None
page_free = _library.page_free
page_free.argtypes, page_free.restype = [POINTER(KernelPage)], None
links_read = _library.links_read
links_read.argtypes = [c_char_p, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t]
links_read.restype = POINTER(KernelLinks)
links_finish = _library.links_finish
links_finish.argtypes, links_finish.restype = (
    [POINTER(KernelLinks), c_char_p, c_size_t, c_char_p, c_size_t, c_int],
    None,
)
links_free = _library.links_free
links_free.argtypes, links_free.restype = [POINTER(KernelLinks)], None
rows_of_links = _library.link_rows
rows_of_links.argtypes, rows_of_links.restype = [c_char_p, c_size_t, c_char_p], c_size_t
text_simhash = _library.simhash
text_simhash.argtypes, text_simhash.restype = [c_char_p, c_size_t], c_uint64
text_scan = _library.scan_text
text_scan.argtypes, text_scan.restype = [c_char_p, c_size_t, c_char_p], c_size_t

text_may_hide = _library.may_hide
text_may_hide.argtypes, text_may_hide.restype = [c_char_p, c_size_t], c_int


# ── the functions of the kernel's interface (choice.py) ─────────────────────────────────────────────────────


def outline_body(body: LexborNode) -> BodyOutline | None:
    """The outline of a body element, read from its serialisation."""
    outlined = outline_html((body.html or "").encode("utf-8", "replace"), is_unambiguous=False)
    return outlined if outlined is not None else outline_html(reserialise(body), is_unambiguous=True)


def outline_html(html: bytes, *, is_unambiguous: bool) -> BodyOutline | None:
    """The outline of a serialised body element; None where the serialisation is ambiguous.

    `is_unambiguous`: the markup was written by `reserialise`, which uses no raw and no void elements.
    """
    page = page_read(html, len(html), is_unambiguous)
    if not page:
        raise MemoryError
    try:
        fields = page.contents
        if fields.status == UNCLEAR:
            return None
        if fields.status == READ:
            if not fields.is_composed:
                text, linked = composed(fields.text.copy().decode()), composed(fields.linked.copy().decode())
                page_recompose(page, text, len(text), linked, len(linked))
            page_finish(page)
        if fields.status == NO_MEMORY:
            raise MemoryError
        outline: BodyOutline = fields.outline()
        return outline
    finally:
        page_free(page)


def collect_links(
    hrefs: bytes,
    spans: bytes | None,
    *,
    root: bytes,
    folder: bytes,
    home: str,
    resolve: Callable[[str], str | None],
) -> LinkTable:
    """The URLs that these addresses lead to; `resolve` is called only for addresses that need a URL parser."""
    span_count = len(spans) // _SPAN_BYTES if spans is not None else 0
    links = links_read(hrefs, len(hrefs), spans, span_count, root, len(root), folder, len(folder))
    if not links:
        raise MemoryError
    try:
        fields = links.contents
        resolved = "".join([f"{resolve(href) or ''}\0" for href in fields.hard.strings()]).encode()
        host = home.encode("utf-8", "replace")
        links_finish(links, resolved, len(resolved), host, len(host), spans is None)
        if fields.status == NO_MEMORY:
            raise MemoryError
        return LinkTable(
            *(fields.urls.copy(), fields.sorted_texts.copy(), fields.hashes.copy(), fields.contacts.copy()),
            *(fields.internal, fields.external, fields.documents),
        )
    finally:
        links_free(links)


def link_rows(packed: bytes) -> bytes:
    """A row for each URL or contact: the hash of its text, and the CRC-32 of its shape."""
    room = ctypes.create_string_buffer((packed.count(b"\0") + 1) * _LINK_ROW_BYTES)
    return ctypes.string_at(room, rows_of_links(packed, len(packed), room) * _LINK_ROW_BYTES)


def may_hide(markup: str) -> bool:
    """Whether markup in ASCII may have a comment or an invisible element."""
    return bool(text_may_hide(markup.encode(), len(markup)))


def scan_text(markup: str) -> str:
    """The text of markup without building a tree."""
    encoded = markup.encode("utf-8", "replace")
    room = ctypes.create_string_buffer(len(encoded))
    return unescape(ctypes.string_at(room, text_scan(encoded, len(encoded), room)).decode())


def simhash(text: bytes) -> int:
    """The simhash of at least one word."""
    return int(text_simhash(text, len(text)))
