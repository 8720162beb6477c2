"""SPARQL results in every format; incomplete documents are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.observe.data.sparql import canonical as bindings
from webstrata.observe.data.sparql.canonical import canonical_results
from webstrata.observe.data.sparql.results import CSV, JSON, TSV, XML, NotResultsError, Results, Term, parse_results

IN_JSON = b"""{"head": {"vars": ["a", "b", "c"]}, "results": {"bindings": [
{"a": {"type": "uri", "value": "http://e.org/"}, "b": {"type": "literal", "value": "x\\ty", "xml:lang": "EN"}},
{"a": {"type": "bnode", "value": "n1"}, "c": {"type": "typed-literal", "value": "1",
 "datatype": "http://www.w3.org/2001/XMLSchema#integer"}},
{"a": {"type": "bnode", "value": "n1"}, "b": {"type": "literal", "value": "s",
 "datatype": "http://www.w3.org/2001/XMLSchema#string"}}]}}"""
IN_XML = b"""<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#">
<head><variable name="c"/><variable name="b"/><variable name="a"/></head><results>
<result><binding name="a"><bnode>zz</bnode></binding><binding name="b"><literal>s</literal></binding></result>
<result><binding name="c"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding>
<binding name="a"><bnode>zz</bnode></binding></result>
<result><binding name="a"><uri>http://e.org/</uri></binding>
<binding name="b"><literal xml:lang="en">x\ty</literal></binding>
</result></results></sparql>"""
IN_TSV = b"?b\t?a\t?c\n\"x\\ty\"@en\t<http://e.org/>\t\n\t_:q\t1\n's'\t_:q\t\n"


def test_formats_agree() -> None:
    """The same results in JSON, XML and TSV, with other order and labels, have the same canonical form."""
    made = {
        canonical_results(parse_results(body, kind)) for body, kind in ((IN_JSON, JSON), (IN_XML, XML), (IN_TSV, TSV))
    }
    assert len(made) == 1
    again = parse_results(made.pop(), JSON)
    assert (again.vars, len(again.rows)) == (("a", "b", "c"), 3)


def test_csv() -> None:
    """CSV has literals and blank nodes; an empty value is not bound."""
    found = parse_results(b'a,b\r\n"x,""y""\nz",\r\n_:k,1\r\n', CSV)
    assert found.rows == ((Term("literal", 'x,"y"\nz'), None), (Term("bnode", "k"), Term("literal", "1")))


NOT_RESULTS = [
    (b"", JSON),
    (b"{}", JSON),
    (b"[]", JSON),
    (IN_JSON[:-2], JSON),
    (b'{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"odd","value":"x"}}]}}', JSON),
    (b'{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"uri","value":1}}]}}', JSON),
    (b'{"head":{},"results":' + b"[" * 5000, JSON),
    (b"", XML),
    (IN_XML[:-9], XML),
    (b"<html><body>Busy</body></html>", XML),
    (b"<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head/></sparql>", XML),
    (b"<!DOCTYPE x [<!ENTITY a 'b'>]><sparql><results>&a;</results></sparql>", XML),
    (b"<sparql>" + b"<a>" * 5000, XML),
    (b"a,b\n1\n", CSV),
    (b'a\n"unclosed', CSV),
    (b"?a\nnot a term\n", TSV),
    (b"?a\n<x:>\t<y:>\n", TSV),
    (b"\xff\xfe", TSV),
    (b"<p>", "text/html"),
]


@pytest.mark.parametrize(("body", "kind"), NOT_RESULTS)
def test_not_results(body: bytes, kind: str) -> None:
    """Incomplete, other or dangerous documents are refused with a reason and have no digest."""
    with pytest.raises(NotResultsError):
        parse_results(body, kind)
    data = bindings.results_digest(body, None, "http://e.org/", kind)
    assert data.digest is None
    assert data.note


def test_repeated_rows_count() -> None:
    """Results are a multiset: a repeated row changes the canonical form."""
    row = (Term("literal", "x"),)
    assert canonical_results(Results(vars=("a",), rows=(row,))) != canonical_results(
        Results(vars=("a",), rows=(row, row))
    )


def test_different_results() -> None:
    """Kinds of terms, languages, datatypes and the positions of blank nodes count."""
    terms = [
        Term("uri", "x"),
        Term("literal", "x"),
        Term("literal", "x", "en"),
        Term("literal", "x", "", "x:y"),
        Term("bnode", "x"),
    ]
    assert len({canonical_results(Results(vars=("a",), rows=((one,),))) for one in terms}) == len(terms)
    same = Results(vars=("a", "b"), rows=((Term("bnode", "x"), Term("bnode", "x")),))
    other = Results(vars=("a", "b"), rows=((Term("bnode", "x"), Term("bnode", "y")),))
    assert canonical_results(same) != canonical_results(other)


def test_many_equal_blank_nodes() -> None:
    """Thousands of blank nodes that cannot be distinguished get the same labels in bounded time."""
    alone = [(Term("bnode", f"n{i}"), Term("literal", "x")) for i in range(3_000)]
    pairs = [(Term("bnode", f"n{i}"), Term("bnode", f"m{i * 7 % 3_000}")) for i in range(3_000)]
    for rows in (alone, pairs, alone + pairs):
        made = {canonical_results(Results(vars=("a", "b"), rows=tuple(order))) for order in (rows, rows[::-1])}
        renamed = [
            tuple([one._replace(value=one.value[::-1]) if one.kind == "bnode" else one for one in row]) for row in rows
        ]
        assert made == {canonical_results(Results(vars=("a", "b"), rows=tuple(renamed)))}


_terms = st.one_of(
    st.none(),
    st.sampled_from("abcdef").map(lambda name: Term("bnode", name)),
    st.sampled_from("xyz").map(lambda value: Term("literal", value)),
)
_rows = st.lists(st.tuples(_terms, _terms), max_size=8)


@given(_rows, st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_order_and_labels_never_count(rows: list[tuple[Term | None, ...]], chance: object) -> None:
    """Shuffled rows and renamed blank nodes have the same canonical form."""
    names = list("abcdef")
    chance.shuffle(names)  # type: ignore[attr-defined]
    renamed = dict(zip("abcdef", names, strict=True))
    moved = [
        tuple([Term("bnode", renamed[one.value]) if one and one.kind == "bnode" else one for one in row])
        for row in rows
    ]
    chance.shuffle(moved)  # type: ignore[attr-defined]
    before = Results(vars=("a", "b"), rows=tuple(rows))
    assert canonical_results(before) == canonical_results(Results(vars=("a", "b"), rows=tuple(moved)))
