"""The difference of two contents that are not text: one sentence, and both pictures if they are small enough."""

from __future__ import annotations

import re

from msgspec import Struct

from webstrata.detect.significance import share_phrase

PICTURE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/svg+xml"}
)
"""Media types that browsers show in an `img` element, in which no script runs."""
_FORMAT = re.compile(r"[^\d,]+(?:, | (?=\d))")
"""The name of the format at the start of a description, which is not said twice."""
MAX_PICTURE_BYTES = 2_000_000
"""Larger pictures are described, not shown."""


class Picture(Struct, frozen=True, kw_only=True):
    """A picture to be shown in a page of differences."""

    media_type: str
    """One of `PICTURE_TYPES`."""
    body: bytes


class BinaryContent(Struct, frozen=True, kw_only=True):
    """A content that is not text, or that is shown as a picture."""

    description: str
    """Format, dimensions and size, as `PNG 640×480, 31 KB`."""
    media_type: str
    body: bytes


class BinaryDifference(Struct, frozen=True, kw_only=True):
    """Two binary contents. Equal descriptions of different contents are possible: then only the bytes differ."""

    before: str
    after: str
    """Descriptions."""
    pixels: float | None = None
    """The share of pixels that differ; None if the contents are not pictures whose pixels can be read."""
    pictures: tuple[Picture, Picture] | None = None

    @property
    def sentence(self) -> str:
        """`PNG 640×480, 31 KB to 640×480, 35 KB; 12 % of pixels differ`."""
        before, after = _FORMAT.match(self.before), _FORMAT.match(self.after)
        is_same_format = before is not None and after is not None and before[0] == after[0]
        text = f"{self.before} to {self.after[after.end() :] if after and is_same_format else self.after}"
        if self.before == self.after:
            text = f"{self.before}, before and after"
        if self.pixels is None:
            return f"{text}; the bytes differ" if self.before == self.after else text
        return f"{text}; {share_phrase(self.pixels)} of pixels differ" if self.pixels else f"{text}; no pixel differs"


def binary_difference(before: BinaryContent, after: BinaryContent, pixels: float | None) -> BinaryDifference | None:
    """Compare two contents whose pixels differ by this share; None if the contents are equal."""
    if before.body == after.body:
        return None
    pictures = picture_of(before), picture_of(after)
    return BinaryDifference(
        before=before.description,
        after=after.description,
        pixels=pixels,
        pictures=(pictures[0], pictures[1]) if pictures[0] and pictures[1] else None,
    )


def picture_of(content: BinaryContent) -> Picture | None:
    """The content as a picture that may be shown; None if its type or its size does not allow it."""
    if content.media_type not in PICTURE_TYPES or len(content.body) > MAX_PICTURE_BYTES:
        return None
    return Picture(media_type=content.media_type, body=content.body)
