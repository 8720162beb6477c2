"""Two versions of a picture, compared by their signatures (`Fingerprint.picture`), without their contents.

A signature holds the size in pixels and thumbnails of averages (`observe/documents/image.py`). Encoding a picture
again changes an average of the brightness by at most 9 of 255 levels (JPEG of quality 20 and more, WebP, PNG), one of
a colour difference by at most 2. A word that is drawn into a picture of 640 × 480 pixels changes one by 10 or more.
Scaling moves edges across the borders of cells: up to 4 % of the averages then differ by more than 12 levels.
"""

from __future__ import annotations

import base64
import binascii
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

BRIGHTNESS_CELLS, COLOUR_CELLS = 32 * 32, 2 * 8 * 8
"""Bytes of a thumbnail: averages of the brightness, then of the colour differences."""
_TOLERANCE = (9, 4)
"""Levels by which the brightness and the colour of a cell may differ in pictures of equal size."""
_SCALED_TOLERANCE = (12, 6)
MAX_SCALED_DISTANCE = 0.05
"""Pictures of different size are the same up to this distance; pictures of equal size only if it is 0."""

PictureVerdict = Literal["same", "resized", "changed"]


class _Picture(NamedTuple):
    width: int
    height: int
    frames: NDArray[np.int16]
    """One row per frame."""


def picture_distance(before: str, after: str) -> float:
    """The share of a signature's cells that differ beyond the tolerance, 0 to 1, in the frame that differs most.

    1 if the shapes or the numbers of frames differ, or if a signature is not valid.
    """
    old, new = _parsed(before), _parsed(after)
    if old is None or new is None or old.frames.shape != new.frames.shape or not _same_shape(old, new):
        return 1.0
    brightness, colour = _TOLERANCE if _same_size(old, new) else _SCALED_TOLERANCE
    tolerance = np.repeat(np.array([brightness, colour], dtype=np.int16), (BRIGHTNESS_CELLS, COLOUR_CELLS))
    differs = np.abs(old.frames - new.frames) > tolerance
    return float(differs.mean(axis=1).max())


def compare_pictures(before: str, after: str) -> PictureVerdict:
    """Whether two pictures show the same: `resized` if only their sizes differ."""
    distance = picture_distance(before, after)
    old, new = _parsed(before), _parsed(after)
    if old is None or new is None:
        return "changed"
    if _same_size(old, new):
        return "changed" if distance else "same"
    return "changed" if distance > MAX_SCALED_DISTANCE else "resized"


def _parsed(signature: str) -> _Picture | None:
    size, *encoded = signature.split(":")
    width, _, height = size.partition("x")
    try:
        frames = [np.frombuffer(base64.b64decode(part, validate=True), dtype=np.uint8) for part in encoded]
        sides = int(width), int(height)
    except (ValueError, binascii.Error):
        return None
    if not frames or min(sides) < 1 or any(frame.size != BRIGHTNESS_CELLS + COLOUR_CELLS for frame in frames):
        return None
    return _Picture(*sides, np.stack(frames).astype(np.int16))


def _same_size(first: _Picture, second: _Picture) -> bool:
    return (first.width, first.height) == (second.width, second.height)


def _same_shape(first: _Picture, second: _Picture) -> bool:
    """Whether two pictures have the same aspect ratio, apart from rounding to whole pixels."""
    difference = abs(first.width * second.height - second.width * first.height)
    return difference <= max(first.width, first.height, second.width, second.height)
