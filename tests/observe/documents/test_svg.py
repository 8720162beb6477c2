"""SVG by its tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.documents.svg import svg_digest, svg_size

NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
PLAIN = f'<svg {NAMESPACE} width="24" height="24"><path d="M0 0" fill="red"/><text>a b</text></svg>'
SAME = [
    f'<?xml version="1.0"?>\n<!-- drawn -->\n{PLAIN}',
    f'<svg {NAMESPACE} height="24" width="24">\n  <path fill="red" d="M0 0"/>\n  <text>a b</text>\n</svg>',
    f'<svg {NAMESPACE} width="24" height="24" version="1.1"><metadata><x>by A</x></metadata><path d="M0 0" fill="red"/>'
    "<text>a b</text></svg>",
    f'<svg {NAMESPACE} xmlns:i="http://www.inkscape.org/namespaces/inkscape" width="24" height="24" i:version="1">'
    '<i:grid><i:line/></i:grid><path d="M0 0" fill="red" i:label="x"/><text>a b</text></svg>',
]
OTHER = [
    PLAIN.replace("red", "blue"),
    PLAIN.replace("M0 0", "M0 1"),
    PLAIN.replace("a b", "a c"),
    PLAIN.replace("<path", '<path id="x"'),
    PLAIN.replace("</svg>", "<path/></svg>"),
]


def digest(svg: str) -> str:
    data = svg_digest(svg.encode(), None, "")
    assert data.kind == "svg"
    assert data.digest is not None, data.note
    return data.digest


@pytest.mark.parametrize("svg", SAME)
def test_what_does_not_change_the_picture(svg: str) -> None:
    """Comments, indentation, the order of attributes, metadata and settings of editors do not count."""
    assert digest(svg) == digest(PLAIN)


@pytest.mark.parametrize("svg", OTHER)
def test_what_changes_the_picture(svg: str) -> None:
    """Shapes, colours, texts and ids count."""
    assert digest(svg) != digest(PLAIN)


def test_sizes() -> None:
    """The size in pixels, by the attributes or the view box."""
    sizes = [svg_size(f"<svg {text}/>".encode()) for text in ('width="24px" height="12.5"', 'viewBox="0,0 30 40"', "")]
    assert sizes == [(24, 12), (30, 40), None]


@given(st.integers(0, len(PLAIN)), st.binary(max_size=10))
def test_damaged_pictures(at: int, inserted: bytes) -> None:
    """Any bytes give a digest or a note."""
    body = PLAIN.encode()[:at] + inserted
    data = svg_digest(body, None, "")
    assert (data.digest is None) == (data.note is not None)
    assert svg_size(body) in (None, (24, 24))
