"""The compiled kernel by itself: any bytes as input, and characters that are composed without Unicode tables."""

from __future__ import annotations

import sys
import unicodedata
from ctypes import create_string_buffer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.compiled import is_compiled

if not is_compiled("observe"):
    pytest.skip("the compiled kernel is not installed", allow_module_level=True)

from webstrata.observe.kernel import library as kernel


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes(html: bytes, is_unambiguous: bool) -> None:
    """Bytes that are not a serialised tree are rejected, or parsed within their bounds."""
    page = kernel.page_read(html, len(html), is_unambiguous)
    assert page.contents.status in (kernel.READ, kernel.UNCLEAR)
    kernel.page_finish(page)
    assert len(page.contents.text.copy()) <= len(html)
    kernel.page_free(page)
    room = create_string_buffer(len(html) + 1)
    assert kernel.text_scan(html, len(html), room) <= len(html)
    kernel.text_simhash(html, len(html))


def test_texts_of_other_lengths() -> None:
    """Composed texts handed back may be shorter or longer than the original ones, or lack their line ends."""
    html = b'<body><p>one</p><p><a href="x">two</a></p></body>'
    for text, linked in ((b"", b""), (b"one", b"two"), (b"\0" * 50, b"\0" * 50), (b"word " * 90 + b"\0", b"a\0b")):
        page = kernel.page_read(html, len(html), False)
        kernel.page_recompose(page, text, len(text), linked, len(linked))
        kernel.page_finish(page)
        assert page.contents.status == kernel.READ
        kernel.page_free(page)


def _changed_by_composition() -> set[int]:
    """Characters that may combine with the one before them, or are another character in composed form."""
    points = {point for point in range(sys.maxunicode + 1) if unicodedata.combining(chr(point))}
    points.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul vowels and finals
    for point in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(point)).split()
        if parts and not parts[0].startswith("<"):
            if unicodedata.normalize("NFC", chr(point)) != chr(point):
                points.add(point)
            points.update(int(part, 16) for part in parts[1:])
    return points


def test_characters_considered_composed() -> None:
    """Characters that the kernel considers composed without Unicode tables are so, next to any other character."""
    changing = _changed_by_composition()
    composed = 0
    for point in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x1D000, 0x20000)):
        html = f"<body>{chr(point)}</body>".encode()
        page = kernel.page_read(html, len(html), True)
        if page.contents.is_composed:
            composed += 1
            assert point not in changing, hex(point)
        kernel.page_free(page)
    assert composed > 30_000
