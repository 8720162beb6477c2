"""Resolution of IRI references."""

from __future__ import annotations

import pytest

from webstrata.observe.data.rdf.iri import is_well_formed, resolve

BASE = "http://a/b/c/d;p?q"

# RFC 3986, sections 5.4.1 and 5.4.2 (without the reference that only older, lenient parsers resolve).
EXAMPLES = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x",
}


@pytest.mark.parametrize(("reference", "expected"), EXAMPLES.items())
def test_examples_of_the_standard(reference: str, expected: str) -> None:
    assert resolve(BASE, reference) == expected


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("http://a", "g", "http://a/g"),
        ("http://a?q", "", "http://a?q"),
        ("urn:example:a/b", "c", "urn:example:a/c"),
        ("tag:example", "#x", "tag:example#x"),
        ("http://a/b", "//h/../c", "http://h/c"),
        ("http://a/./b/", "c/", "http://a/b/c/"),
        ("file:///a/b", "c", "file:///a/c"),
        ("", "c", "c"),
    ],
)
def test_bases_of_other_forms(base: str, reference: str, expected: str) -> None:
    """Bases of any scheme, without a path, or with dot segments."""
    assert resolve(base, reference) == expected


@pytest.mark.parametrize(
    ("iri", "expected"), [("http://a/b", True), ("a/b", False), ("http://a/b c", False), ("http://a/<b>", False)]
)
def test_well_formed(iri: str, expected: bool) -> None:
    assert is_well_formed(iri) is expected
