"""The SPARQL 1.1 Protocol, judged as a client can be: our requests to an endpoint that shows the asked behaviour.

A case whose request is an update, or is wrong on purpose, judges servers: our client never sends such a request
(docs/decisions/0007-sparql-datasets.md), and the case is not played.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pyoxigraph as ox

from tests.conformance.case import Case, UnplayableError, play_rows
from tests.conformance.verdict import Verdict
from tests.fetch.endpoint import Endpoint
from tests.fetch.local_site import page_at, serving, visited
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import form_of
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.flows.parsers.handler_parsers import HandlerParsers
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import VisitResult

FAMILY = "sparql-protocol"

_FORMATS = {
    "boolean": {"application/sparql-results+json"},
    "tabular": {"application/sparql-results+json"},
    "RDF": {"application/n-triples", "application/n-quads", "text/turtle", "application/rdf+xml"},
}
_QUERY_TYPES = ("application/x-www-form-urlencoded", "application/sparql-query")
_LONG = "\n#" + "x" * 2000
"""Behind a query, so that our client posts it."""


def run(folder: Path) -> Verdict:
    """Status class, format and boolean of what our client got."""
    verdict = Verdict()
    play_rows(folder / "cases.json", partial(_play, folder), verdict)
    return verdict


def _play(folder: Path, case: Case, verdict: Verdict) -> None:
    requests = case.parts("requests")
    if not requests:
        raise UnplayableError("'requests' is empty")
    request = requests[-1]
    query, expected = [_query(each) for each in requests][-1], _expected(request)
    got = _seen(_asked(folder, case, request, query))
    if expected[2] is None:  # the source does not say which
        got = (*got[:2], None, got[3])
    verdict.check(case.id, expected, got)


def _query(request: Case) -> str:
    """The query of a request that our client can send. Raises `UnplayableError`."""
    body = request.text("body") if request.has("body") else ""
    fields = parse_qs(urlsplit(request.text("path")).query)
    media_type, parameters = _content_type(request)
    if request.choice("method", ("GET", "POST")) == "POST":
        if media_type == "application/sparql-update" or "update" in parse_qs(body):
            raise UnplayableError("an update judges servers, and our client never sends one")
        if media_type not in _QUERY_TYPES or parameters.replace(" ", "").lower() not in ("", "charset=utf-8"):
            raise UnplayableError("the media type is wrong on purpose, and our client never sends such a request")
        fields |= parse_qs(body) if media_type == _QUERY_TYPES[0] else {"query": [body]}
    elif "update" in fields or body:
        raise UnplayableError("an update or a GET request with a body judges servers, and our client never sends one")
    if len(fields.get("query", [])) != 1:
        raise UnplayableError("a request without exactly one query judges servers, and our client never sends one")
    return fields["query"][0]


def _content_type(request: Case) -> tuple[str, str]:
    for header in request.items("headers") if request.has("headers") else []:
        match header:
            case [str(name), str(value)]:
                if name.lower() == "content-type":
                    media_type, _, parameters = value.partition(";")
                    return media_type.strip().lower(), parameters.strip()
            case _:
                raise UnplayableError("'headers' is not a list of pairs")
    return "", ""


def _asked(folder: Path, case: Case, request: Case, query: str) -> VisitResult:
    store = ox.Store()
    for graph in case.items("graphs"):
        match graph:
            case [str(file), str(name)]:
                triples = Case({"file": file}, case.id).file(folder, "file").read_bytes()
                store.load(triples, format=ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(name))
            case _:
                raise UnplayableError("'graphs' is not a list of pairs")
    parameters = [pair for pair in parse_qsl(urlsplit(request.text("path")).query) if pair[0] != "query"]
    answers = HandlerParsers(ParserPool(0))
    with serving(Endpoint(store)) as site:
        url = f"{site.url}/sparql/?{urlencode(parameters)}".rstrip("?")
        text = query + (_LONG if request.text("method") == "POST" else "")
        return visited(SparqlHandler(answers, WholeDataset(answers)), page_at(url, handler="sparql", query=text))


def _expected(request: Case) -> tuple[object, ...]:
    fine = "2xx" in request.texts("expect_status")
    form = request.choice("expect_format", _FORMATS) if request.has("expect_format") else None
    boolean = request.choice("expect_boolean", ("true", "false")) == "true" if request.has("expect_boolean") else None
    return (fine, form, boolean, request.text("method"))


def _seen(seen: VisitResult) -> tuple[object, ...]:
    answer = seen.answer
    assert answer is not None
    fine = seen.failure is None and answer.status == 200
    kind = seen.content.content_type if seen.content is not None else answer.header("content-type")
    forms = {"ASK": "boolean", "SELECT": "tabular", "CONSTRUCT": "RDF", "DESCRIBE": "RDF"}
    asked = forms.get(form_of(seen.page.page_rules.query) or "") if seen.page.page_rules is not None else None
    form = asked if fine and asked is not None and kind in _FORMATS[asked] else None
    document = json.loads(seen.content.body) if seen.content is not None else {}
    return (fine, form, document.get("boolean"), answer.request_head.split(b" ", 1)[0].decode())
