"""Loads the kernel and says how its functions are called."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint64, c_void_p
from struct import iter_unpack

from webstrata.compiled import load_kernel

_VERSION = 2
"""Of the functions and fields below; kernel.h has the same."""

READ, UNCLEAR, NO_MEMORY = range(3)
"""How far a page could be read."""


class KernelBuffer(Structure):
    """Bytes that belong to the kernel."""

    _fields_ = (("data", c_void_p), ("length", c_size_t), ("room", c_size_t))

    def copy(self) -> bytes:
        return ctypes.string_at(self.data, self.length) if self.length else b""

    def strings(self) -> list[str]:
        """Of a buffer with a 0 behind each."""
        return self.copy()[:-1].decode("utf-8", "replace").split("\0") if self.length else []

    def spans(self) -> list[tuple[int, int]]:
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
        ("main_links", KernelBuffer),
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
        ("places", KernelBuffer),
        ("hashes", KernelBuffer),
    )


_library = load_kernel(__file__, _VERSION)

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
simhash = _library.simhash
simhash.argtypes, simhash.restype = [c_char_p, c_size_t], c_uint64
scan_text = _library.scan_text
scan_text.argtypes, scan_text.restype = [c_char_p, c_size_t, c_char_p], c_size_t
