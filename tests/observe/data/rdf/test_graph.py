"""RDF and JSON-LD: one graph in many syntaxes, and refused documents."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.rdf import graph, jsonld
from webstrata.observe.data.rdf.graph import FORMATS

URL = "http://e/doc"
_RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
ONE_GRAPH = {
    "turtle": "@prefix e: <http://e/> . e:a e:p [ e:q 'x' ] .",
    "ntriples": "_:z <http://e/q> 'x' .\n<http://e/a> <http://e/p> _:z .".replace("'", '"'),
    "nquads": '<http://e/a> <http://e/p> _:b1 .\n_:b1 <http://e/q> "x" .',
    "trig": '@base <http://e/> . <a> <p> _:c . { _:c <q> "x" }',
    "n3": "@prefix e: <http://e/> . e:a e:p _:m . _:m e:q 'x' .",
    "rdfxml": f'<rdf:RDF {_RDF} xmlns:e="http://e/"><rdf:Description rdf:about="a">'
    "<e:p><rdf:Description><e:q>x</e:q></rdf:Description></e:p></rdf:Description></rdf:RDF>",
    "jsonld": '{"@id":"http://e/a","http://e/p":{"http://e/q":"x"}}',
}


def test_one_graph_in_every_syntax() -> None:
    """The syntax does not change the digest."""
    digests = {graph.rdf_digest(text.encode(), None, URL, syntax=name).digest for name, text in ONE_GRAPH.items()}
    assert set(ONE_GRAPH) == set(FORMATS)
    assert len(digests) == 1
    assert None not in digests


HOSTILE = {
    "entities": ("rdfxml", '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'),
    "deep xml": ("rdfxml", f"<rdf:RDF {_RDF} xmlns:e='http://e/'>" + "<e:a><e:b>" * 50_000),
    "triple terms": ("turtle", "<a> <b> " + "<<( <a> <b> " * 100_000),
    "long prefix": (
        "turtle",
        f"@prefix a: <http://e/{'x' * 100_000}> . a:a a:b " + ",".join("a:c" * 1 for _ in range(5000)) + ".",
    ),
    "deep lists": ("turtle", "<a> <b> " + "(" * 500_000),
    "binary": ("nquads", "\x00\x01\x02"),
    "words": ("turtle", "This is not Turtle."),
    "nothing": ("turtle", "# nothing but a comment"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_graphs_are_refused(name: str) -> None:
    """Dangerous documents are refused quickly, with a note."""
    syntax, text = HOSTILE[name]
    begun = time.process_time()
    data = graph.rdf_digest(text.encode(), None, URL, syntax=syntax)
    assert data.digest is None
    assert data.note
    assert time.process_time() - begun < 10.0


@given(st.binary(max_size=200), st.sampled_from(sorted(FORMATS)))
def test_any_bytes(body: bytes, syntax: str) -> None:
    """Any bytes and URLs give a digest or a note."""
    for url in (URL, "", "no url"):
        data = graph.rdf_digest(body, None, url, syntax=syntax)
        assert (data.digest is None) == (data.note is not None)


def ld(text: str, contexts: dict[str, bytes] | None = None) -> tuple[str, str | None, str | None]:
    data = jsonld.jsonld_digest(text.encode(), None, URL, contexts)
    return data.kind, data.digest, data.note


def test_contexts_alone_are_compared_as_json() -> None:
    """Documents without triples are compared as JSON, so that two contexts differ."""
    one, other = ld('{"@context":{"a":"http://e/a"}}'), ld('{"@context":{"a":"http://e/b"}}')
    assert one[0] == "json"
    assert one[1] != other[1]
    assert "no triples" in str(one[2])


def test_remote_contexts() -> None:
    """A document is compared as a graph if its context is passed, else as JSON."""
    text = '{"@context":"https://c.test/c","@id":"http://e/a","name":"x"}'
    plain = '{"@id":"http://e/a","http://e/name":"x"}'
    kind, digest, note = ld(text)
    assert kind == "json"
    assert digest is not None
    assert "https://c.test/c is missing" in str(note)
    assert ld(text, {"https://c.test/c": b'{"@context":{"name":"http://e/name"}}'}) == ld(plain)


def test_recursive_contexts() -> None:
    """A context that refers to itself is followed up to a limit."""
    known = {"https://c.test/c": b'{"@context":["https://c.test/c","https://c.test/c"]}'}
    assert ld('{"@context":"https://c.test/c","@id":"http://e/a","http://e/p":1}', known)[0] == "json"


def test_a_context_with_an_import() -> None:
    """`@import` adds terms; the terms of the importing context have precedence."""
    known = {"https://c.test/c": b'{"@context":{"name":"http://e/other","age":"http://e/age"}}'}
    text = '{"@context":{"@version":1.1,"@import":"https://c.test/c","name":"http://e/name"},"@id":"http://e/a","name":"x","age":1}'
    assert ld(text, known) == ld('{"@id":"http://e/a","http://e/name":"x","http://e/age":1}')


def test_triple_terms_hold_blank_nodes() -> None:
    """Blank nodes inside triple terms, hundreds deep, are relabelled like others."""

    def nested(label: str) -> bytes:
        opened = "".join(f"<<( _:{label}{n} <http://e/q> " for n in range(400))
        return f"<http://e/a> <http://e/p> {opened} 1 {')>>' * 400} .".encode()

    one = graph.rdf_digest(nested("x"), None, URL, syntax="turtle")
    assert one.digest == graph.rdf_digest(nested("y"), None, URL, syntax="turtle").digest is not None
