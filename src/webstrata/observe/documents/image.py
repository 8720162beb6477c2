"""Images by their pixels: a small signature for the fingerprint, and the share of pixels in which two images differ.

The signature of a picture holds its size and, for up to four frames, a thumbnail: 32 × 32 averages of the brightness
and 8 × 8 averages of the two colour differences. A picture that was encoded again has nearly the same averages;
`detect/picture.py` compares them.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
MAX_BYTES = 200 * 1024 * 1024
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")
"""The formats that are decoded. Pillow knows others, some of which start other programs."""
_BRIGHTNESS_CELLS, _COLOUR_CELLS = 32, 8
_DRAFT_CELLS = 16
"""A JPEG is decoded at a reduced size, if that has at least this number of pixels for each cell and direction."""
_MAX_FRAMES = 4
_SAMPLED_FRAMES = 64
"""Frames of an animation among which the compared ones are chosen: each requires those before it."""
_VISIBLE_DIFFERENCE = 24
"""Levels of 255 in one channel from which two pixels differ visibly; encoding at low quality stays below it."""
_MAX_COMPARED_SIDE = 2000


class PictureSignature(Struct, frozen=True, kw_only=True, gc=False):
    """The signature of an image, or why there is none."""

    picture: str | None = None
    """`WIDTHxHEIGHT:` and the thumbnails in base64, separated by `:` (`Fingerprint.picture`)."""
    note: str | None = None


class _ImageError(ValueError):
    """The image cannot be decoded, or exceeds a limit; the message is the reason."""


def picture_signature(body: bytes) -> PictureSignature:
    """The signature of an image. Never raises."""
    try:
        with _opened(body) as image:
            width, height = _upright_size(image)
            frames = [_thumbnail(frame) for frame in _frames(image)]
    except _ImageError as error:
        return PictureSignature(note=str(error))
    encoded = ":".join(base64.b64encode(frame).decode() for frame in frames)
    return PictureSignature(picture=f"{width}x{height}:{encoded}")


def image_summary(body: bytes) -> str | None:
    """The format and the size in pixels, like `PNG 640×480`; None if it is no image. Never raises."""
    try:
        with _opened(body) as image:
            width, height = _upright_size(image)
            return f"{image.format} {width}×{height}"
    except _ImageError:
        return None


def pixel_difference(before: bytes, after: bytes) -> float | None:
    """The share of pixels that differ visibly, 0 to 1; None if one of the contents is no image. Never raises.

    Images of different size and the same shape are compared at the smaller size; images of different shape differ in
    all pixels. Of animations the first frame is compared.
    """
    try:
        with _opened(before) as first, _opened(after) as second:
            sizes = _upright_size(first), _upright_size(second)
            if not _same_shape(*sizes):
                return 1.0
            size = min(sizes)
            scale = min(1.0, _MAX_COMPARED_SIDE / max(size))
            size = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
            old, new = (_pixels(image, size) for image in (first, second))
    except _ImageError:
        return None
    # Unsigned differences of both signs, because a wider type would take four times the memory.
    difference = np.where(old > new, old - new, new - old).max(axis=2)
    return float(np.count_nonzero(difference >= _VISIBLE_DIFFERENCE) / difference.size)


@contextmanager
def _opened(body: bytes) -> Iterator[Image.Image]:
    """An image whose header was read. Raises _ImageError, also for errors of the library in the block."""
    from PIL import Image, UnidentifiedImageError

    if len(body) > MAX_BYTES:
        raise _ImageError(f"longer than {MAX_BYTES} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about damaged metadata, and about sizes, which are checked below
            with Image.open(BytesIO(body), formats=FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise _ImageError(f"more than {MAX_PIXELS} pixels")
                yield image
    except _ImageError:
        raise
    except UnidentifiedImageError:
        raise _ImageError("not an image") from None
    except Image.DecompressionBombError:
        raise _ImageError(f"more than {MAX_PIXELS} pixels") from None
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can raise any error in the many decoders
        raise _ImageError(f"cannot be decoded: {error}") from None


_ORIENTATION_TAG = 0x0112
_FIRST_TURNED = 5
"""Orientations from this value on exchange width and height."""


def _upright_size(image: Image.Image) -> tuple[int, int]:
    turned = image.getexif().get(_ORIENTATION_TAG, 1) >= _FIRST_TURNED
    return (image.height, image.width) if turned else (image.width, image.height)


def _same_shape(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether two sizes have the same aspect ratio, apart from rounding to whole pixels."""
    (width, height), (other_width, other_height) = first, second
    return abs(width * other_height - other_width * height) <= max(first + second)


def _frames(image: Image.Image) -> Iterator[Image.Image]:
    """The only frame, or up to four frames of an animation, in RGB on white, upright."""
    count = min(getattr(image, "n_frames", 1), _SAMPLED_FRAMES)
    if count == 1:
        side = _BRIGHTNESS_CELLS * _DRAFT_CELLS
        image.draft("RGB", (side, side))
        yield _on_white(image)
        return
    chosen = min(count, _MAX_FRAMES)
    for number in range(chosen):
        image.seek(number * count // chosen)
        yield _on_white(image)


def _on_white(image: Image.Image) -> Image.Image:
    """The image as a viewer shows it: turned as its metadata demands, transparent pixels on white."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode in ("I", "I;16", "I;16B", "I;16L", "F"):  # 16 bits; `convert` would cut them at 255
        levels = np.asarray(upright, dtype=np.float64)
        scaled = np.clip(levels / (257.0 if upright.mode != "F" else max(levels.max(initial=1.0), 1.0) / 255.0), 0, 255)
        return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")
    if "A" in upright.getbands() or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        white = Image.new("RGBA", layer.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layer).convert("RGB")
    return upright.convert("RGB")


def _thumbnail(frame: Image.Image) -> bytes:
    """Averages of the brightness, then of the two colour differences, one byte each."""
    from PIL import Image

    brightness, blue, red = frame.convert("YCbCr").split()
    fine = (_BRIGHTNESS_CELLS, _BRIGHTNESS_CELLS)
    coarse = (_COLOUR_CELLS, _COLOUR_CELLS)
    box = Image.Resampling.BOX
    return b"".join(
        channel.resize(size, box).tobytes() for channel, size in ((brightness, fine), (blue, coarse), (red, coarse))
    )


def _pixels(image: Image.Image, size: tuple[int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    from PIL import Image

    frame = _on_white(image)
    return np.asarray(frame if frame.size == size else frame.resize(size, Image.Resampling.BOX))
