"""The `rdf` handler finds the RDF of a page."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.fetch.local_site import Answer, Answering, Asked, page_at, serving, visited
from webstrata.errors import ParserError
from webstrata.fetch.handlers.negotiate import accept_quality
from webstrata.fetch.handlers.rdf import ACCEPT, RDF_TYPES, RdfHandler, best_alternate
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.flows.parsers.tasks import Task
from webstrata.records import FailureKind, VisitResult

TURTLE = b"<#me> <#knows> <#you> ."
HTML = {"Content-Type": "text/html; charset=utf-8"}
TTL = {"Content-Type": "text/turtle"}
EMBEDDED = b"""<script type="application/ld+json">{"@id": "#me", "name": "\xc3\xa4"}</script>"""


def rdf() -> RdfHandler:
    return RdfHandler(HandlerParsers(ParserPool(0)))


def seen_at(answering: Answering, path: str = "/thing", **page_rules: object) -> VisitResult:
    with serving(answering) as site:
        return visited(rdf(), page_at(site.url + path, **{"handler": "rdf", **page_rules}))


def thing(
    *, link: str = "", html: bytes = b"", rdf_at: str = "/data.ttl", headers: dict[str, str] | None = None
) -> Answering:
    """A web page at /thing, and its RDF at another URL."""

    def answering(asked: Asked) -> Answer:
        if asked.target == "/thing":
            return Answer(headers=HTML | ({"Link": link} if link else {}), body=html)
        if asked.target == rdf_at:
            return Answer(headers=headers or TTL, body=TURTLE)
        return Answer(404)

    return answering


def test_negotiated() -> None:
    """If the server has RDF, its response is the content."""
    offers = ["text/html", "application/ld+json", "application/rdf+xml", "text/turtle"]

    def answering(asked: Asked) -> Answer:
        kind = max(offers, key=lambda media_type: accept_quality(media_type, asked.headers["accept"]))
        return Answer(headers={"Content-Type": kind, "Vary": "Accept"}, body=TURTLE)

    seen = seen_at(answering)
    assert seen.failure is None
    assert seen.content is None
    assert seen.answer is not None
    assert seen.answer.header("content-type") == "text/turtle"
    assert len(seen.exchanges) == 1


def test_own_accept() -> None:
    """The Accept header of the user replaces that of the handler."""
    seen = seen_at(lambda asked: Answer(headers={"Content-Type": asked.headers["accept"]}), accept="application/trig")
    assert seen.answer is not None
    assert seen.answer.header("content-type") == "application/trig"


def test_see_other() -> None:
    """A 303 from a thing to its description is followed; the description is the content."""

    def answering(asked: Asked) -> Answer:
        if asked.target == "/thing":
            return Answer(303, {"Location": "/doc"})
        return Answer(headers=TTL, body=TURTLE)

    seen = seen_at(answering)
    assert [one.status for one in seen.exchanges] == [303, 200]
    assert seen.answer is seen.exchanges[1]


LINKED = [
    ("Link header", '</data.ttl>; rel="alternate"; type="text/turtle"', b"<p>x"),
    ("describedby", '</x.css>; rel=stylesheet, </data.ttl>; type=text/turtle; rel="nofollow describedby"', b"<p>x"),
    ("link element", "", b'<link rel="alternate" type="text/turtle" href="data.ttl">'),
    ("link element and base", "", b'<base href="/"><link rel=describedby type="Text/Turtle;x=y" href="data.ttl">'),
    (
        "best of several",
        '</no.rdf>; rel=alternate; type="application/rdf+xml", </data.ttl>; rel=alternate; type="text/turtle"',
        b"",
    ),
]


@pytest.mark.parametrize(("link", "html"), [row[1:] for row in LINKED], ids=[row[0] for row in LINKED])
def test_alternates(link: str, html: bytes) -> None:
    """An RDF document that the page names is requested, and is the content."""
    seen = seen_at(thing(link=link, html=html))
    assert seen.failure is None
    assert [one.url.rpartition("/")[2] for one in seen.exchanges] == ["thing", "data.ttl"]
    assert seen.answer is seen.exchanges[1]


@pytest.mark.parametrize("packed", [False, True])
def test_embedded(packed: bool) -> None:
    """JSON-LD embedded in the page is the content, joined from all its scripts."""
    html = (
        b"<title>x</title>" + EMBEDDED + b'<script type="application/ld+json">[{"@id": "#you"}, 3</script>' + EMBEDDED
    )
    coded = {"Content-Encoding": "gzip"} if packed else {}
    seen = seen_at(lambda _: Answer(headers=HTML | coded, body=gzip.compress(html) if packed else html))
    assert seen.failure is None
    assert seen.content is not None
    assert seen.content.content_type == "application/ld+json"
    assert json.loads(seen.content.body) == [{"@id": "#me", "name": "ä"}] * 2
    assert seen.answer is seen.exchanges[0]


def test_alternate_that_is_not_rdf() -> None:
    """If the named document is not RDF, embedded JSON-LD is the content."""
    link = '</data.ttl>; rel="alternate"; type="text/turtle"'
    seen = seen_at(thing(link=link, html=EMBEDDED, headers={"Content-Type": "text/html"}))
    assert seen.failure is None
    assert seen.content is not None
    assert seen.answer is seen.exchanges[0]
    assert len(seen.exchanges) == 2


def test_no_rdf() -> None:
    """Without RDF the visit fails if the user chose the handler; otherwise it is a plain visit."""
    seen = seen_at(thing(html=b"<p>only text"))
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.UNEXPECTED
    plain = seen_at(thing(html=b"<p>only text"), handler="auto")
    assert plain.failure is None
    assert plain.answer is plain.exchanges[0]


def test_missing_alternate() -> None:
    """If the RDF document is missing, the status of the visit is 404."""
    seen = seen_at(thing(link='</gone.ttl>; rel="alternate"; type="text/turtle"'))
    assert seen.failure is None
    assert seen.answer is not None
    assert seen.answer.status == 404


def test_best_alternate() -> None:
    """The type with the highest quality is chosen, the first of equals, and never the page itself."""
    found = [("http://h/p", "text/turtle"), ("http://h/x", "text/css"), ("http://h/a", "application/rdf+xml")]
    assert best_alternate(found, ACCEPT, "http://h/p") == "http://h/a"
    assert best_alternate([*found, ("http://h/b", "text/turtle")], ACCEPT, "http://h/p") == "http://h/b"
    assert best_alternate(found[:2], ACCEPT, "http://h/p") is None


def test_all_types_are_requested() -> None:
    """The Accept header contains every registered RDF serialisation."""
    for kind in (
        "text/turtle",
        "application/n-triples",
        "application/n-quads",
        "application/trig",
        "application/rdf+xml",
    ):
        assert kind in RDF_TYPES
        assert kind in ACCEPT


def test_no_parser_works() -> None:
    """If no parser process works, the visit fails as a fault of this machine: the page is not to blame."""

    def fail(task: Task) -> None:
        raise ParserError("no parser process can be started")

    handler = RdfHandler(HandlerParsers(ParserPool(0, run=fail)))
    with serving(thing(html=EMBEDDED)) as site:
        seen = visited(handler, page_at(site.url + "/thing", handler="rdf"))
    assert seen.failure is not None
    assert seen.failure.kind is FailureKind.LOCAL
