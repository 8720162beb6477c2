"""Content keys of observations: what is compared by each layer."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest

from webstrata.settings import CaptureSettings
from webstrata.sharp.proof.page_observation import COMPARED_LAYERS, PageObservation, equal_layers

HTML = {"raw": "r", "visible_text": "v", "links": "l", "main": "m"}


def seen(**fields: Any) -> PageObservation:
    plain: dict[str, Any] = {"started": 0.0, "ended": 1.0, "kind": "content", "status": 200} | fields
    return PageObservation(**plain)


@pytest.mark.parametrize(
    ("layer", "layers", "compared"),
    [
        ("visible", HTML, ("visible_text", "links")),
        ("visible", {"raw": "r", "data": "d"}, ("raw",)),
        ("raw", HTML, ("raw",)),
        ("links", HTML, ("links",)),
        ("links", {"raw": "r"}, ("raw",)),
        ("main", HTML, ("main",)),
        ("main", {"raw": "r", "visible_text": "v", "links": "l"}, ("visible_text", "links")),
        ("data", {"raw": "r", "data": "d"}, ("data",)),
        ("data", HTML, ("visible_text", "links")),
        ("selected", HTML | {"selected": "s"}, ("selected",)),
        ("selected", HTML, ("visible_text", "links")),
        ("auto", HTML | {"selected": "s"}, ("selected",)),
        ("auto", HTML, ("main",)),
    ],
)
def test_compared_layers(layer: str, layers: dict[str, str], compared: tuple[str, ...]) -> None:
    """The first group of layers that a content has is compared."""
    assert seen(layers=layers).compared(layer) == compared


@pytest.mark.parametrize(
    ("first", "second", "is_equal"),
    [
        ({}, {}, True),
        ({}, {"layers": HTML | {"raw": "other"}}, True),
        ({}, {"layers": HTML | {"links": "other"}}, False),
        ({}, {"status": 203}, False),
        ({}, {"status": 304}, True),
        ({"content_type": "text/html;charset=utf-8"}, {"content_type": 'Text/HTML; charset="UTF-8"'}, True),
        ({"content_type": "text/html"}, {"content_type": "text/plain"}, False),
        ({}, {"kind": "error"}, False),
        ({"kind": "absent", "status": 404}, {"kind": "absent", "status": 404}, False),
        ({"kind": "failure", "status": 0}, {"kind": "failure", "status": 0}, False),
        (
            {"kind": "redirect", "status": 301, "target": "http://a.test/x"},
            {"kind": "redirect", "status": 301, "target": "http://a.test/x"},
            True,
        ),
        (
            {"kind": "redirect", "status": 301, "target": "http://a.test/x"},
            {"kind": "redirect", "status": 302, "target": "http://a.test/x"},
            False,
        ),
    ],
)
def test_equal_contents(first: dict[str, Any], second: dict[str, Any], is_equal: bool) -> None:
    """Two observations show the same content if both have a key and the keys are equal."""
    keys = [seen(**({"layers": HTML} | fields)).key("visible") for fields in (first, second)]
    assert (keys[0] is not None and keys[0] == keys[1]) is is_equal


def test_equal_layers() -> None:
    """Layers that only one of two contents has are not compared."""
    assert equal_layers(seen(layers=HTML), seen(layers={"raw": "r", "links": "x", "data": "d"})) == {
        "raw": True,
        "links": False,
    }


def test_the_setting_has_all_layers() -> None:
    """`capture.layer` takes exactly the layers by which captures compare contents."""
    hint = get_type_hints(CaptureSettings)["layer"]
    assert get_args(hint) == COMPARED_LAYERS
