"""JSON-LD: contexts, scoped contexts, IRIs, values, and documents made to exhaust the parser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.rdf import jsonld_context
from webstrata.observe.data.rdf.jsonld import expanded_jsonld, jsonld_digest, jsonld_quads

URL = "http://example.org/dir/doc"
E = "http://e/"


def quads(document: Any, contexts: dict[str, Any] | None = None) -> list[str]:
    bodies = {url: json.dumps({"@context": context}).encode() for url, context in (contexts or {}).items()}
    return [line.decode() for line in jsonld_quads(json.dumps(document).encode(), URL, bodies)]


def test_relative_references() -> None:
    """`@base` is resolved against the base before it, and dot segments are removed."""
    document = {
        "@context": [{"@base": "http://e/./a/"}, {"@base": "../b/"}],
        "@id": "c/../d",
        f"{E}p": {"@id": "//h/../x"},
    }

    assert quads(document) == ["<http://e/b/d> <http://e/p> <http://h/x> ."]


def test_property_scoped_context() -> None:
    """A context of a property applies inside it and is passed on."""
    document = {
        "@context": {"@vocab": E, "p": {"@context": {"q": "http://other/q"}}},
        "q": "outside",
        "p": {"q": "inside", "r": {"q": "deeper"}},
    }

    assert sorted(line.split(" ", 1)[1] for line in quads(document) if '"' in line) == [
        '<http://e/q> "outside" .',
        '<http://other/q> "deeper" .',
        '<http://other/q> "inside" .',
    ]


def test_type_scoped_context() -> None:
    """A context of a type applies to the node itself, and to nodes inside only if it says so."""

    def names(**propagate: bool) -> list[str]:
        document = {
            "@context": {
                "@vocab": E,
                "T": {"@context": {**{f"@{key}": value for key, value in propagate.items()}, "q": "http://other/q"}},
            },
            "@type": "T",
            "q": "own",
            "p": {"q": "inside"},
        }
        return sorted(line.split(" ")[1] for line in quads(document) if '"' in line)

    assert names() == ["<http://e/q>", "<http://other/q>"]
    assert names(propagate=True) == ["<http://other/q>", "<http://other/q>"]


def test_property_scoped_context_that_is_not_propagated() -> None:
    document = {
        "@context": {"@vocab": E, "p": {"@context": {"@propagate": False, "q": "http://other/q"}}},
        "p": {"q": "inside", "r": {"q": "deeper"}},
    }

    assert sorted(line.split(" ", 1)[1] for line in quads(document) if '"' in line) == [
        '<http://e/q> "deeper" .',
        '<http://other/q> "inside" .',
    ]


def test_recursive_scoped_context() -> None:
    """A context at a URL may name itself as the context of one of its terms."""
    context = {"@vocab": E, "p": {"@context": "http://c/"}}
    document = {"@context": "http://c/", "p": {"p": {"q": "x"}}}

    assert expanded_jsonld(json.dumps(document).encode(), URL, {}).missing == "http://c/"
    assert [line.split(" ")[1] for line in quads(document, {"http://c/": context}) if '"' in line] == ["<http://e/q>"]


def test_remote_contexts() -> None:
    """Addresses are resolved against the document that names them; a remote `@base` does not apply."""
    contexts: dict[str, Any] = {
        "http://example.org/dir/one": ["sub/two", {"@base": "http://wrong/"}],
        "http://example.org/dir/sub/two": {"@import": "three", "q": "http://e/q"},
        "http://example.org/dir/sub/three": {"p": "http://e/p", "q": "http://wrong/q"},
    }
    document = {"@context": "one", "@id": "x", "p": "1", "q": "2"}

    assert quads(document, contexts) == [
        '<http://example.org/dir/x> <http://e/p> "1" .',
        '<http://example.org/dir/x> <http://e/q> "2" .',
    ]


def test_protected_terms() -> None:
    """A protected term can be redefined by the context of a property and by no other context."""
    protected = {"@protected": True, "p": "http://e/p", "q": {"@id": "http://e/q", "@context": {"p": "http://e/other"}}}

    assert len(quads({"@context": protected, "q": {"p": "x"}})) == 2
    with pytest.raises(ValueError, match="protected term redefinition"):
        quads({"@context": [protected, {"p": "http://e/other"}], "p": "x"})
    with pytest.raises(ValueError, match="invalid context nullification"):
        quads({"@context": [protected, None], "p": "x"})


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (1, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (1.0, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (1.5, '"1.5E0"^^<http://www.w3.org/2001/XMLSchema#double>'),
        (1e21, '"1.0E21"^^<http://www.w3.org/2001/XMLSchema#double>'),
        (True, '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ('a\n"b"\\', '"a\\n\\"b\\"\\\\"'),
        ({"@value": "x", "@language": "EN"}, '"x"@en'),
        ({"@value": "x", "@language": "ar", "@direction": "rtl"}, '"x"@ar--rtl'),
        (
            {"@value": {"b": 1e3, "a": [0.1, None]}, "@type": "@json"},
            '"{\\"a\\":[0.1,null],\\"b\\":1000}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>',
        ),
    ],
)
def test_literals(value: Any, literal: str) -> None:
    assert quads({"@id": f"{E}s", f"{E}p": value}) == [f"<http://e/s> <http://e/p> {literal} ."]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-9, "-1.5e-9"),
        (0.0, "0"),
    ],
)
def test_numbers_of_json_literals(number: float, text: str) -> None:
    """Numbers are written as ECMAScript writes them (RFC 8785)."""
    (line,) = quads({"@id": f"{E}s", f"{E}p": {"@value": number, "@type": "@json"}})

    assert f'"{text}"^^' in line


def test_a_relative_or_malformed_iri_leaves_out_its_triple() -> None:
    document = {"@id": f"{E}s", f"{E}p": [{"@id": f"{E}a b"}, {"@id": f"{E}o"}], "http://e/q r": "x"}

    assert quads(document) == ["<http://e/s> <http://e/p> <http://e/o> ."]


def test_many_scoped_contexts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work for contexts is limited; the document is then compared as JSON."""
    monkeypatch.setattr(jsonld_context, "_MAX_WORK", 1000)
    document = [{"@context": {f"t{number}": f"{E}{number}"}, f"t{number}": 1} for number in range(600)]
    digest = jsonld_digest(json.dumps(document).encode(), None, URL)

    assert (digest.kind, digest.note) == ("json", "compared as JSON: contexts with more than 1000 definitions")


def test_contexts_without_end() -> None:
    """Contexts that name each other end at a limit."""
    contexts = {f"http://c/{number}": f"{number + 1}" for number in range(150)}

    with pytest.raises(ValueError, match=r"overflow|more than 100 contexts"):
        quads({"@context": "http://c/0", f"{E}p": "x"}, contexts)


def test_deep_documents() -> None:
    """A document that is nested too deeply is compared as JSON or not at all; nothing is raised."""
    for depth in (50, 150, 5000):
        body = (f'{{"{E}p":' * depth + "1" + "}" * depth).encode()
        assert jsonld_digest(body, None, URL).kind in ("graph", "json")


KEYS = st.sampled_from(
    (
        *("@context", "@id", "@type", "@value", "@language", "@list", "@set", "@graph", "@reverse", "@index", "@nest"),
        *("@base", "@vocab", "@container", "@propagate", "@import", "@included", "@protected", "@prefix"),
        *("@direction", "p", "q:r", "_:b", "http://e/p", ""),
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_never_raises(document: Any) -> None:
    """Any JSON document has a digest of its graph or of its JSON."""
    body = json.dumps(document).encode()

    assert jsonld_digest(body, None, URL).kind in ("graph", "json")
    expanded_jsonld(body, URL, {})
