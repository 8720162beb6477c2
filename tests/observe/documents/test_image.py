"""Images: signatures, differing pixels, and hostile files."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.observe.documents.samples import encoded, photograph
from webstrata.observe.documents.image import picture_signature, pixel_difference

SMALL = photograph(3, (64, 48))


def test_share_of_differing_pixels() -> None:
    """A rectangle of an eighth of the picture differs; encoding again does not."""
    image = photograph(4, (400, 200))
    edited = image.copy()
    edited.paste((255, 0, 0), (0, 0, 100, 100))
    share = pixel_difference(encoded(image), encoded(edited))
    assert share is not None
    assert share == pytest.approx(0.125, abs=0.02)
    again = pixel_difference(encoded(image), encoded(image, "JPEG", quality=85))
    assert again is not None
    assert again < 0.01


def test_pixels_of_other_sizes() -> None:
    """The same picture at half its size is nearly equal; another shape differs wholly."""
    image = photograph(5, (400, 200))
    half = image.resize((200, 100), Image.Resampling.BOX)
    assert pixel_difference(encoded(image), encoded(half)) == 0.0
    assert pixel_difference(encoded(image), encoded(image.crop((0, 0, 200, 200)))) == 1.0


def test_pixels_of_what_is_no_image() -> None:
    """Without two images there is no share."""
    assert pixel_difference(encoded(SMALL), b"text") is None
    assert pixel_difference(b"", encoded(SMALL)) is None


def test_metadata_and_transparency() -> None:
    """Comments and hidden pixels do not count; transparent pixels are white."""
    clear = SMALL.convert("RGBA")
    clear.putalpha(0)
    other = photograph(6, (64, 48)).convert("RGBA")
    other.putalpha(0)
    white = Image.new("RGB", (64, 48), "white")
    signatures = {picture_signature(encoded(image)).picture for image in (clear, other, white)}
    assert len(signatures) == 1
    plain = picture_signature(encoded(SMALL, "JPEG")).picture
    assert plain is not None
    assert picture_signature(encoded(SMALL, "JPEG", comment=b"taken today")).picture == plain


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "I;16", "CMYK"])
def test_modes(mode: str) -> None:
    """Every mode of pixels has a signature; sixteen bits are not cut."""
    deep = Image.fromarray(np.asarray(SMALL.convert("L"), dtype=np.uint16) * 257)
    image = deep if mode == "I;16" else SMALL.convert(mode)
    found = picture_signature(encoded(image, "TIFF" if mode == "CMYK" else "PNG"))
    assert found.picture is not None, found.note
    if mode == "I;16":
        assert found.picture == picture_signature(encoded(SMALL.convert("L"))).picture


def png_of(width: int, height: int) -> bytes:
    """A PNG file that declares a size and has hardly any data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


@pytest.mark.parametrize("side", [12_000, 60_000, 2_000_000_000])
def test_decompression_bombs(side: int) -> None:
    """An image of too many pixels is refused before it is decoded."""
    found = picture_signature(png_of(side, side))
    assert found.picture is None
    assert found.note is not None
    assert "pixels" in found.note or "decoded" in found.note


BODIES = st.sampled_from([encoded(SMALL, name) for name in ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")])


@given(BODIES, st.integers(0, 100), st.integers(0, 99), st.binary(max_size=12))
def test_damaged_images(body: bytes, keep: int, at: int, inserted: bytes) -> None:
    """A damaged image has a signature or a note, and never raises."""
    cut = body[: len(body) * keep // 100]
    position = len(cut) * at // 100
    found = picture_signature(cut[:position] + inserted + cut[position + len(inserted) :])
    assert (found.picture is None) == (found.note is not None)
