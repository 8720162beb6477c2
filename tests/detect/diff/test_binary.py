from __future__ import annotations

import pytest

from webstrata.detect.diff.binary import (
    MAX_PICTURE_BYTES,
    BinaryContent,
    BinaryDifference,
    binary_difference,
    picture_of,
)


@pytest.mark.parametrize(
    ("before", "after", "pixels", "sentence"),
    [
        (
            "PNG 640×480, 31 KB",
            "PNG 640×480, 35 KB",
            0.12,
            "PNG 640×480, 31 KB to 640×480, 35 KB; 12 % of pixels differ",
        ),
        ("PNG 640×480, 31 KB", "JPEG 64×48, 3 KB", None, "PNG 640×480, 31 KB to JPEG 64×48, 3 KB"),
        ("PNG 9×9, 1 KB", "PNG 9×9, 1 KB", 0.0001, "PNG 9×9, 1 KB, before and after; less than 0.1 % of pixels differ"),
        ("PNG 9×9, 1 KB", "PNG 9×9, 2 KB", 0.0, "PNG 9×9, 1 KB to 9×9, 2 KB; no pixel differs"),
        ("PNG 9×9, 1 KB", "PNG 9×9, 2 KB", 0.034, "PNG 9×9, 1 KB to 9×9, 2 KB; 3.4 % of pixels differ"),
        ("Word document, 31 KB", "Word document, 35 KB", None, "Word document, 31 KB to 35 KB"),
        ("PDF, 3 pages, 31 KB", "PDF, 4 pages, 35 KB", None, "PDF, 3 pages, 31 KB to 4 pages, 35 KB"),
        ("binary, 1 KB", "binary, 1 KB", None, "binary, 1 KB, before and after; the bytes differ"),
    ],
)
def test_sentence(before: str, after: str, pixels: float | None, sentence: str) -> None:
    """One sentence has format, dimensions and size of both contents, and the share of pixels that differ."""
    assert BinaryDifference(before=before, after=after, pixels=pixels).sentence == sentence


def test_pictures_are_limited() -> None:
    """Only types that an `img` element shows, of a limited size, are pictures."""
    assert picture_of(_content(b"x")) is not None
    assert picture_of(_content(b"x" * (MAX_PICTURE_BYTES + 1))) is None
    assert picture_of(_content(b"x", "image/png;x=\"'><script>")) is None
    assert picture_of(_content(b"x", "text/html")) is None


def test_pictures_stand_side_by_side() -> None:
    """Both pictures are shown or none; equal contents have no difference."""
    small, large = _content(b"x"), _content(b"x" * (MAX_PICTURE_BYTES + 1))
    shown, described = binary_difference(small, _content(b"y"), 0.5), binary_difference(small, large, None)

    assert shown is not None
    assert shown.pictures is not None
    assert [picture.body for picture in shown.pictures] == [b"x", b"y"]
    assert described is not None
    assert described.pictures is None
    assert binary_difference(small, small, 0.0) is None


def _content(body: bytes, media_type: str = "image/png") -> BinaryContent:
    return BinaryContent(description="PNG 1×1, 1 byte", media_type=media_type, body=body)
