"""RDFa 1.1 in HTML: each case is a page and its triples by the standard, up to isomorphism."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from webstrata.observe.data.rdf.graph_digest import graph_digest
from webstrata.observe.data.rdf.rdfa import MAX_TEXT, MAX_TRIPLES, RdfaTooLargeError, rdfa_lines
from webstrata.observe.data.rdf.rdfa_names import INITIAL_PREFIXES, RdfaPrefixes, declared_prefixes
from webstrata.observe.html.tree import parse
from webstrata.observe.linked_data import embedded_data

URL = "http://example.org/people/page.html"
PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in INITIAL_PREFIXES.items() if name != "xml")

# What it shows, the page's body (or the whole page), its triples as Turtle.
CASES = [
    ("nothing", "<p class=x>Text <a href=x rel=nofollow>link</a></p>", ""),
    # Lite: vocab, typeof, property, resource, prefix
    (
        "vocab typeof property",
        "<p vocab='http://schema.org/' typeof=Person>I am <span property=name>Ann</span>, call "
        "<a property=telephone href='tel:1'>me</a>, <img property=image src=ann.png></p>",
        "<> rdfa:usesVocabulary schema: . [] a schema:Person ; schema:name 'Ann' ; schema:telephone <tel:1> ;"
        " schema:image <ann.png> .",
    ),
    (
        "resource names a thing",
        "<p typeof='foaf:Person schema:Person' resource='#ann'><b property='foaf:name rdfs:label'>Ann</b></p>",
        "<#ann> a foaf:Person, schema:Person ; foaf:name 'Ann' ; rdfs:label 'Ann' .",
    ),
    (
        "property with typeof makes a thing inside a thing",
        "<p resource=#a><span property=foaf:knows typeof=foaf:Person><i property=foaf:name>Bo</i></span></p>",
        "<#a> foaf:knows [ a foaf:Person ; foaf:name 'Bo' ] .",
    ),
    (
        "own prefixes, in any letters, nearest first",
        "<div prefix='Ex: http://ex.org/# isbn: urn:isbn:'><p prefix='ex: http://other.org/' about=[isbn:123]>"
        "<b property=ex:p>1</b></p><b property=eX:q>2</b></div>",
        "<urn:isbn:123> <http://other.org/p> '1' . <> <http://ex.org/#q> '2' .",
    ),
    ("xmlns as a prefix", "<p xmlns:old='http://old.org/' property=old:p>x</p>", "<> <http://old.org/p> 'x' ."),
    (
        "vocabulary taken back",
        "<p vocab=http://v.org/><b vocab='' property=t>x</b></p>",
        "<> rdfa:usesVocabulary <http://v.org/> .",
    ),
    ("a word that no vocabulary has", "<p property=title>x</p>", ""),
    ("three words that need none", "<a rel=LICENSE href=/l>x</a>", "<> xhv:license </l> ."),
    ("whole IRIs", "<p property=http://p.org/q>x</p>", "<> <http://p.org/q> 'x' ."),
    ("an unknown prefix is a scheme", "<p property=unknown:q>x</p>", "<> <unknown:q> 'x' ."),
    # literals
    (
        "language",
        "<p lang=de><b property=dc:title>Bär</b><b lang='' property=dc:title>x</b></p>",
        "<> dc:title 'Bär'@de, 'x' .",
    ),
    ("content", "<meta property=og:title content='A &amp; B'>", "<> og:title 'A & B' ."),
    (
        "text of all that is inside",
        "<p property=dc:title>E = <i>mc</i><sup>2</sup>\n</p>",
        '<> dc:title "E = mc2\\n" .',
    ),
    ("datatype", "<b property=dc:date datatype=xsd:gYear content=2001>x</b>", "<> dc:date '2001'^^xsd:gYear ."),
    ("empty datatype", "<a property=dc:title datatype='' href=x>t</a>", "<x> dc:title 't' ."),
    (
        "markup",
        "<p property=dc:title datatype=rdf:HTML>a <b>b</b></p>",
        "<> dc:title 'a <b>b</b>'^^rdf:HTML .",
    ),
    (
        "times",
        "<time property=dc:date>2020-02-03</time><time property=dc:date datetime=2020-02-03T04:05:06Z>now</time>"
        "<time property=dc:date datetime=P1DT2H>x</time><time property=dc:date>soon</time><time property=dc:date>2020"
        "</time><time property=dc:date content=2021>x</time>",
        "<> dc:date '2020-02-03'^^xsd:date, '2020-02-03T04:05:06Z'^^xsd:dateTime, 'P1DT2H'^^xsd:duration, 'soon',"
        " '2020'^^xsd:gYear, '2021' .",
    ),
    # relations
    ("rel", "<p about=#a><a rel=foaf:knows href=#b>b</a></p>", "<#a> foaf:knows <#b> ."),
    ("rev", "<p about=#a><a rev=foaf:made href=#b>b</a></p>", "<#b> foaf:made <#a> ."),
    ("both", "<a about=#a rel=foaf:knows rev=foaf:made href=#b>b</a>", "<#a> foaf:knows <#b> . <#b> foaf:made <#a> ."),
    (
        "a relation waits for its ends",
        "<ul about=#a rel=foaf:knows rev=foaf:made><li about=#b></li><li><i resource=#c></i></li></ul>",
        "<#a> foaf:knows <#b>, <#c> . <#b> foaf:made <#a> . <#c> foaf:made <#a> .",
    ),
    (
        "a relation that meets only words",
        "<p about=#a rel=foaf:knows><b property=foaf:name>B</b><b property=foaf:nick>b</b></p>",
        "<#a> foaf:knows [ foaf:name 'B' ; foaf:nick 'b' ] .",
    ),
    ("a relation that meets nothing", "<p about=#a rel=foaf:knows></p>", ""),
    (
        "rel with typeof",
        "<p about=#a><b rel=foaf:knows typeof=foaf:Person><i property=foaf:name>B</i></b></p>",
        "<#a> foaf:knows [ a foaf:Person ; foaf:name 'B' ] .",
    ),
    (
        "about with typeof and rel",
        "<a about=#a typeof=foaf:Person rel=foaf:img href=i>x</a>",
        "<#a> a foaf:Person ; foaf:img <i> .",
    ),
    ("rel words beside property are no RDFa", "<a property=foaf:page rel=nofollow href=x>x</a>", "<> foaf:page <x> ."),
    ("rel and property", "<a rel=foaf:page property=dc:title href=x>t</a>", "<> foaf:page <x> ; dc:title 't' ."),
    ("typeof alone", "<p typeof=foaf:Person></p>", "[] a foaf:Person ."),
    ("typeof on body is of the page", "<body typeof=foaf:Document>", "<> a foaf:Document ."),
    ("typeof on the root is of the page", "<html typeof=foaf:Document>", "<> a foaf:Document ."),
    # names of things
    (
        "labels of blank nodes",
        "<p about=_:x property=dc:title>1</p><p about=[_:x] property=dc:title>2</p><b about=_:y property=dc:title>3",
        "[] dc:title '1', '2' . [] dc:title '3' .",
    ),
    ("base", "<base href=http://b.org/d/><p about=x property=dc:title>t</p>", "<http://b.org/d/x> dc:title 't' ."),
    ("a compact name that means nothing", "<p about=[no:x] property=dc:title>t</p>", "<> dc:title 't' ."),
    (
        "addresses that are none",
        "<a rel=foaf:page href='http://[x'>x</a><a rel=foaf:page href='a b'>y</a>",
        "<> foaf:page <a%20b> .",
    ),
    ("href is never compact", "<a rel=foaf:page href=foaf:x>x</a>", "<> foaf:page <foaf:x> ."),
    ("blank nodes are no predicates", "<p property=_:x>x</p>", ""),
    # lists
    (
        "lists",
        "<p about=#a><b property=dc:x inlist>1</b><i><b property=dc:x inlist>2</b></i><a rel=dc:y inlist href=u></a>"
        "<b rel=dc:z inlist><i resource=v></i><i resource=w></i></b><b rel=dc:e inlist></b></p>",
        "<#a> dc:x ('1' '2') ; dc:y (<u>) ; dc:z (<v> <w>) ; dc:e () .",
    ),
    (
        "lists of things inside things",
        "<p about=#a><b property=dc:x inlist>1</b><i rel=dc:part resource=#b><b property=dc:x inlist>2</b></i></p>",
        "<#a> dc:x ('1') ; dc:part <#b> . <#b> dc:x ('2') .",
    ),
]


def triples(html: str, url: str = URL) -> list[bytes]:
    tree = parse(html)
    assert tree is not None
    return rdfa_lines(tree, url)


def lines_of(turtle: str) -> list[bytes]:
    quads = ox.parse((PREFIXES + turtle).encode(), ox.RdfFormat.TURTLE, base_iri=URL)
    return (ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b"").splitlines()


@pytest.mark.parametrize(("html", "turtle"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_triples(html: str, turtle: str) -> None:
    """The page contains exactly these triples."""
    found, expected = triples(html), lines_of(turtle)
    assert graph_digest(found) == graph_digest(expected), (found, expected)


def test_the_same_page_gives_the_same_lines() -> None:
    """Blank nodes are numbered in document order, so that equal pages give equal, valid lines."""
    page = "".join(html for _, html, _ in CASES if "<html" not in html and "<base" not in html)
    assert triples(page) == triples(page)
    read = list(ox.parse(b"\n".join(triples(page)), ox.RdfFormat.N_TRIPLES))
    assert len(read) > 50


def test_hostile_pages() -> None:
    """Deep nesting, many triples and repeated text end in time; a page beyond the limits has no triples."""
    deep = "<div property=dc:title>" * 4000 + "x" * 20_000
    with pytest.raises(RdfaTooLargeError):
        triples(deep)
    assert MAX_TEXT < 4000 * 20_000
    many = "<p property='" + " ".join(f"x:{n}" for n in range(MAX_TRIPLES + 1)) + "'>x</p>"
    with pytest.raises(RdfaTooLargeError):
        triples(many)
    assert embedded_data(deep.encode(), "text/html", URL).rdfa == b""
    for html in ("<p about='\x00' property='\x00:x dc:title' lang='\x00'>\x00</p>", "<p prefix=':: : a: b:' vocab=:>"):
        list(ox.parse(b"\n".join(triples(html)), ox.RdfFormat.N_TRIPLES))
    assert triples("<p property=dc:title>x</p>", "no address") == []


def test_names() -> None:
    """A `prefix` attribute contains pairs; an incomplete pair is ignored."""
    assert list(declared_prefixes("a: http://a/ B: urn:b: _: http://c/ d")) == [("a", "http://a/"), ("b", "urn:b:")]
    names = RdfaPrefixes(URL, INITIAL_PREFIXES, "")
    assert names.resource("[foaf:x]") == "http://xmlns.com/foaf/0.1/x"
    assert names.resource("http://x.org/") == "http://x.org/"
    assert names.term("relative/path") is None
