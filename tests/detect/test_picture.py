"""Signatures of pictures: encoded again and resized is the same picture, an edit and another picture are not.

The tolerances were chosen on photographs of the seeds 0 to 2 and drawings; the tests use other seeds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from tests.observe.documents.samples import encoded, photograph
from webstrata.detect.picture import compare_pictures, picture_distance
from webstrata.observe.documents.image import picture_signature

SEEDS = [11, 12]


def signature(body: bytes) -> str:
    found = picture_signature(body)
    assert found.picture is not None, found.note
    return found.picture


def drawing(seed: int) -> Image.Image:
    """White with words and coloured areas, whose edges encoders change most."""
    image = Image.new("RGB", (800, 450), "white")
    draw = ImageDraw.Draw(image)
    for number in range(12):
        at = (37 * number * seed % 700, 61 * number * seed % 420)
        draw.rectangle((*at, at[0] + 40, at[1] + 25), fill=(20 * number, 200 - 10 * number, 90))
        draw.text((at[1], at[0] % 420), f"Line {number} of {seed}", fill="black")
    return image


PICTURES = [pytest.param(make, id=make.__name__) for make in (photograph, drawing)]


@pytest.mark.parametrize("make", PICTURES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("quality", [95, 75, 60, 40])
def test_encoded_again_is_the_same_picture(make: Callable[[int], Image.Image], seed: int, quality: int) -> None:
    """JPEG and WebP of any usual quality, and PNG with other compression, have distance 0."""
    image = make(seed)
    original = signature(encoded(image))
    for body in (
        encoded(image, "JPEG", quality=quality),
        encoded(image, "WEBP", quality=quality),
        encoded(image, optimize=True),
    ):
        assert picture_distance(original, signature(body)) == 0.0
        assert compare_pictures(original, signature(body)) == "same"


@pytest.mark.parametrize("make", PICTURES)
@pytest.mark.parametrize("scale", [0.33, 0.5, 1.5])
def test_resized_is_the_same_picture(make: Callable[[int], Image.Image], scale: float) -> None:
    """The same picture at another size is `resized`, also if it was encoded again."""
    image = make(SEEDS[0])
    size = round(image.width * scale), round(image.height * scale)
    resized = encoded(image.resize(size, Image.Resampling.LANCZOS), "JPEG", quality=70)
    assert compare_pictures(signature(encoded(image)), signature(resized)) == "resized"


@pytest.mark.parametrize("make", PICTURES)
@pytest.mark.parametrize("seed", SEEDS)
def test_an_edit_is_a_change(make: Callable[[int], Image.Image], seed: int) -> None:
    """A few words in a corner, a small area in another colour, a mirrored and another picture are changes."""
    image = make(seed)
    words, area = image.copy(), image.copy()
    ImageDraw.Draw(words).rectangle((100, 100, 170, 112), fill="white")
    ImageDraw.Draw(words).text((100, 100), "SOLD OUT", fill="black")
    ImageDraw.Draw(area).rectangle((300, 200, 330, 230), fill="red")
    mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    original = signature(encoded(image, "JPEG", quality=80))
    for changed in (words, area, mirrored, make(seed + 100)):
        assert compare_pictures(original, signature(encoded(changed, "JPEG", quality=80))) == "changed"
    smaller = mirrored.resize((image.width // 2, image.height // 2))
    assert compare_pictures(original, signature(encoded(smaller))) == "changed"


def test_another_shape_is_a_change() -> None:
    """A picture that was cut differs wholly; one that was turned by its metadata is compared upright."""
    image = photograph(13)
    cut = image.crop((0, 0, image.width, image.height // 2))
    assert picture_distance(signature(encoded(image)), signature(encoded(cut))) == 1.0
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = encoded(image.transpose(Image.Transpose.ROTATE_90), "JPEG", quality=95, exif=exif.tobytes())
    assert compare_pictures(signature(encoded(image)), signature(turned)) == "same"


def test_animations() -> None:
    """All compared frames of an animation count, and their number."""
    frames = [drawing(seed) for seed in (1, 2, 3)]
    moving = [
        encoded(frames[0], "GIF", save_all=True, append_images=rest) for rest in (frames[1:], [frames[1], frames[0]])
    ]
    assert compare_pictures(signature(moving[0]), signature(moving[0])) == "same"
    assert compare_pictures(signature(moving[0]), signature(moving[1])) == "changed"
    assert compare_pictures(signature(moving[0]), signature(encoded(frames[0], "GIF"))) == "changed"


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_signature(before: str, after: str) -> None:
    """A signature that is not valid is a change, never an error."""
    assert picture_distance(before, after) == 1.0
    assert compare_pictures(before, after) == "changed"
