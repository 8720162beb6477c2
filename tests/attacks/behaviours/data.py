"""Hosts whose XML, RDF, SPARQL results, feeds and sitemaps are costly or refer to what may not be read."""

from __future__ import annotations

from itertools import pairwise

from tests.attacks.behaviour import Behaviour, Serve, body, filled
from tests.attacks.behaviours.compressed import repeated_gzip
from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

_MB = 1_000_000
_XML = "application/xml"
_RESULTS = "application/sparql-results+json"
_JSON_LD = "application/ld+json"


def _laughs(root: str) -> bytes:
    """Entities that expand to 10^9 words."""
    names = [f"e{n}" for n in range(10)]
    entities = '<!ENTITY e0 "laugh">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names)
    )
    return f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{root % "&e9;"}'.encode()


def _quadratic() -> bytes:
    return b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 100_000 + b'">]><x>' + b"&a;" * 10_000 + b"</x>"


def _xml_depth() -> bytes:
    return b"<x>" * 500_000 + b"</x>" * 500_000


def _xml_attributes() -> bytes:
    return b"<x " + b" ".join(b'a%d="v"' % n for n in range(200_000)) + b"/>"


def _external(entity: str, kind: str = _XML) -> Serve:
    """XML with an external entity; its address may contain `{…}` (see `filled`)."""

    async def serve(caller: Caller, request: Request) -> None:
        place = filled(entity, caller, request)
        text = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % p SYSTEM "{place}"> %p; <!ENTITY a SYSTEM "{place}">]>'
        await caller.send(reply(f"{text}<x>&a;</x>", kind=kind).wire)

    return serve


async def _contexts(caller: Caller, request: Request) -> None:
    """A document that names a context of 1.9 MB 99 times."""
    if request.path == "/context":
        terms = ",".join(f'"term{n}":"http://example.org/vocabulary/{n}"' for n in range(38_000))
        await caller.send(reply(f'{{"@context":{{{terms}}}}}', kind=_JSON_LD).wire)
        return
    context = f'"http://{request.host}/context"'
    names = ",".join([context] * 99)
    await caller.send(reply(f'{{"@context":[{names}],"@id":"http://x.test/","term1":"y"}}', kind=_JSON_LD).wire)


async def _context_chain(caller: Caller, request: Request) -> None:
    """Each context names the next one."""
    caller.keep = True
    following = f"http://{request.host}/c{caller.number}"
    await caller.send(reply(f'{{"@context":"{following}","@id":"http://x.test/"}}', kind=_JSON_LD).wire)


async def _context_many(caller: Caller, request: Request) -> None:
    """A thousand different contexts."""
    caller.keep = True
    names = ",".join(f'"http://{request.host}/c{n}"' for n in range(1000))
    await caller.send(reply(f'{{"@context":[{names}],"@id":"http://x.test/"}}', kind=_JSON_LD).wire)


def _json_ld_depth() -> bytes:
    return b'{"@context":{"@vocab":"http://x.test/"},' + b'"a":{' * 50_000 + b'"b":1' + b"}" * 50_001


_ROW = b'{"s":{"type":"uri","value":"http://example.org/s"},"o":{"type":"literal","value":"o"}},'


def _results() -> bytes:
    """About 200 MB of rows in 300 KB."""
    return repeated_gzip(_ROW * 10_000, 220, b'{"head":{"vars":["s","o"]},"results":{"bindings":[', _ROW[:-1] + b"]}}")


def _xml_results() -> bytes:
    row = b"<result><binding name='s'><uri>http://example.org/s</uri></binding></result>"
    head = b"<sparql xmlns='http://www.w3.org/2005/sparql-results#'><head><variable name='s'/></head><results>"
    return repeated_gzip(row * 10_000, 150, head, b"</results></sparql>")


_send_results = body(_results, kind=_RESULTS, Content_Encoding="gzip")


async def _query_links(caller: Caller, request: Request) -> None:
    """A site whose links look like SPARQL queries and lead to the results bomb."""
    if "query=" in request.path:
        await _send_results(caller, request)
        return
    links = "".join(f'<a href="/sparql?query=SELECT+*+WHERE+%7B+?s+?p+{n}+%7D">query {n}</a> ' for n in range(10))
    await caller.send(reply(f"<title>Queries</title><p>{links}").wire)


def _rdf_xml_depth() -> bytes:
    start = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.test/">'
    return start + b"<rdf:Description><e:p>" * 100_000


def _turtle_line() -> bytes:
    return b'<http://a.test/> <http://b.test/> "' + b"x" * 20 * _MB + b'" .\n'


def _turtle_depth() -> bytes:
    return b"@prefix : <http://a.test/> . :a :b " + b"[ :b " * 100_000 + b":c" + b" ]" * 100_000 + b" .\n"


def _turtle_blank() -> bytes:
    """Blank nodes in one large circle with chords: costly to canonicalise."""
    lines = (b"_:b%d <http://p.test/> _:b%d, _:b%d .\n" % (n, (n + 1) % 3000, (n * 7) % 3000) for n in range(3000))
    return b"".join(lines)


def _quads() -> bytes:
    return repeated_gzip(b'<http://s.test/> <http://p.test/> "o" <http://g.test/> .\n' * 10_000, 250)


def _feed() -> bytes:
    item = b"<item><title>t</title><link>http://feed-large.test/e</link><guid>g</guid></item>"
    return repeated_gzip(item * 10_000, 120, b'<rss version="2.0"><channel><title>x</title>', b"</channel></rss>")


def _sitemap() -> bytes:
    place = b"<url><loc>http://sitemap-large.test/p</loc></url>"
    head = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return repeated_gzip(place * 10_000, 300, head, b"</urlset>")


_OTHER_VARIABLES = b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"http://x.test/"}},{}]}}'
_RDF_ROOT = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description>%s</rdf:Description></rdf:RDF>'
)
_RSS_ROOT = '<rss version="2.0"><channel><title>%s</title></channel></rss>'

DATA = (
    Behaviour("xml-laughs", "entities that expand to 10^9 words", body(_laughs("<x>%s</x>"), kind=_XML)),
    Behaviour("xml-quadratic", "an entity of 100 KB used 10,000 times", body(_quadratic, kind=_XML)),
    Behaviour("xml-depth", "500,000 elements within each other", body(_xml_depth, kind=_XML)),
    Behaviour("xml-attributes", "200,000 attributes", body(_xml_attributes, kind=_XML)),
    Behaviour("xml-file", "an external entity in a file", _external("file:///etc/passwd")),
    Behaviour("xml-forbidden", "an external entity at a forbidden address", _external("http://127.0.14.1:{port}/x")),
    Behaviour(
        "feed-forbidden",
        "a feed with such an entity",
        _external("http://127.0.14.1:{port}/x", "application/rss+xml"),
        path="/f.rss",
    ),
    Behaviour(
        "feed-laughs", "a feed with such entities", body(_laughs(_RSS_ROOT), kind="application/rss+xml"), path="/f.rss"
    ),
    Behaviour(
        "feed-large",
        "1.2 million entries, as gzip",
        body(_feed, kind="application/rss+xml", Content_Encoding="gzip"),
        path="/f.rss",
    ),
    Behaviour(
        "sitemap-large",
        "three million places, as gzip",
        body(_sitemap, kind=_XML, Content_Encoding="gzip"),
        path="/sitemap.xml",
        handler="sitemap",
    ),
    Behaviour("jsonld-contexts", "a context of 1.9 MB that is named 99 times", _contexts, path="/d.jsonld"),
    Behaviour("jsonld-chain", "contexts that name further contexts", _context_chain, path="/d.jsonld"),
    Behaviour("jsonld-many", "a thousand contexts", _context_many, path="/d.jsonld"),
    Behaviour("jsonld-depth", "50,000 nodes within each other", body(_json_ld_depth, kind=_JSON_LD), path="/d.jsonld"),
    Behaviour(
        "sparql-results",
        "200 MB of results in 300 KB",
        body(_results, kind=_RESULTS, Content_Encoding="gzip"),
        path="/q?query=SELECT+*+WHERE+%7B%3Fs+%3Fp+%3Fo%7D",
        handler="sparql",
    ),
    Behaviour(
        "sparql-xml",
        "110 MB of XML results",
        body(_xml_results, kind="application/sparql-results+xml", Content_Encoding="gzip"),
        path="/q?query=SELECT+*+WHERE+%7B%3Fs+%3Fp+%3Fo%7D",
        handler="sparql",
    ),
    Behaviour("sparql-links", "links with SPARQL queries on a watched site", _query_links, site=True),
    Behaviour(
        "sparql-laughs",
        "SPARQL results with entities",
        body(_laughs("<sparql>%s</sparql>"), kind="application/sparql-results+xml"),
        path="/sparql",
        handler="sparql",
    ),
    Behaviour(
        "sparql-variables",
        "SPARQL results without the variables that were asked for",
        body(_OTHER_VARIABLES, kind=_RESULTS),
        path="/sparql",
        handler="sparql",
    ),
    Behaviour(
        "rdfxml-laughs", "RDF/XML with entities", body(_laughs(_RDF_ROOT), kind="application/rdf+xml"), path="/d.rdf"
    ),
    Behaviour(
        "rdfxml-depth",
        "RDF/XML with 200,000 open elements",
        body(_rdf_xml_depth, kind="application/rdf+xml"),
        path="/d.rdf",
    ),
    Behaviour("turtle-line", "a literal of 20 MB", body(_turtle_line, kind="text/turtle"), path="/d.ttl"),
    Behaviour(
        "turtle-depth", "100,000 blank nodes within each other", body(_turtle_depth, kind="text/turtle"), path="/d.ttl"
    ),
    Behaviour(
        "turtle-blank",
        "3,000 blank nodes that are hard to tell apart",
        body(_turtle_blank, kind="text/turtle"),
        path="/d.ttl",
    ),
    Behaviour(
        "quads-large",
        "2.5 million quads, as gzip",
        body(_quads, kind="application/n-quads", Content_Encoding="gzip"),
        path="/d.nq",
    ),
)
