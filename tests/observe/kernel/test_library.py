"""The library by itself: any bytes, characters that need no tables, and that the wheel has it."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
import zipfile
from ctypes import create_string_buffer
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.kernel import library as kernel

ROOT = Path(__file__).parent.parent.parent.parent


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes(html: bytes, is_spelled: bool) -> None:
    """Bytes that are no serialised tree are refused, or read within their bounds."""
    page = kernel.page_read(html, len(html), is_spelled)
    assert page.contents.status in (kernel.READ, kernel.UNCLEAR)
    kernel.page_finish(page)
    assert len(page.contents.text.copy()) <= len(html)
    kernel.page_free(page)
    room = create_string_buffer(len(html) + 1)
    assert kernel.scan_text(html, len(html), room) <= len(html)
    kernel.simhash(html, len(html))


def test_texts_of_other_lengths() -> None:
    """Texts handed back in composed form may be shorter or longer than those read, or without their line ends."""
    html = b'<body><p>one</p><p><a href="x">two</a></p></body>'
    for text, linked in ((b"", b""), (b"one", b"two"), (b"\0" * 50, b"\0" * 50), (b"word " * 90 + b"\0", b"a\0b")):
        page = kernel.page_read(html, len(html), False)
        kernel.page_recompose(page, text, len(text), linked, len(linked))
        kernel.page_finish(page)
        assert page.contents.status == kernel.READ
        kernel.page_free(page)


def _takes_part_in_composition() -> set[int]:
    """Characters that may join the one before them, or be another in composed form."""
    found = {point for point in range(sys.maxunicode + 1) if unicodedata.combining(chr(point))}
    found.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul vowels and finals
    for point in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(point)).split()
        if parts and not parts[0].startswith("<"):
            if unicodedata.normalize("NFC", chr(point)) != chr(point):
                found.add(point)
            found.update(int(part, 16) for part in parts[1:])
    return found


def test_characters_taken_for_composed() -> None:
    """What the kernel takes for composed without asking Python's tables is so, beside any other character."""
    changing = _takes_part_in_composition()
    taken = 0
    for point in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x1D000, 0x20000)):
        html = f"<body>{chr(point)}</body>".encode()
        page = kernel.page_read(html, len(html), True)
        if page.contents.is_composed:
            taken += 1
            assert point not in changing, hex(point)
        kernel.page_free(page)
    assert taken > 30_000


def test_wheel_has_the_library(tmp_path: Path) -> None:
    """A wheel is built for its platform and holds the libraries."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=110)
    (wheel,) = tmp_path.glob("*.whl")
    assert "py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as opened:
        assert {f"webstrata/{folder}/kernel/kernel.so" for folder in ("observe", "predict")} <= set(opened.namelist())
