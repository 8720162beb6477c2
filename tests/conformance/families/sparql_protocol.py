"""The SPARQL 1.1 Protocol, judged as a client can be: our requests to an endpoint that shows the asked behaviour.

A case whose request is an update, or is wrong on purpose, judges servers: our client never sends such a request
(docs/decisions/0007-sparql-datasets.md), and the case counts as a written choice where that is seen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pyoxigraph as ox

from tests.conformance.verdict import Verdict
from tests.fetch.endpoint import Endpoint
from tests.fetch.local_site import page_at, serving, visited
from webstrata.fetch.handlers.sparql.handler import SparqlHandler
from webstrata.fetch.handlers.sparql.query import form_of
from webstrata.fetch.handlers.sparql.whole_dataset import WholeDataset
from webstrata.observe.data.sparql.responses import SparqlResponseParser
from webstrata.records import VisitResult

FAMILY = "sparql-protocol"

_FORMATS = {
    "boolean": {"application/sparql-results+json"},
    "tabular": {"application/sparql-results+json"},
    "RDF": {"application/n-triples", "application/n-quads", "text/turtle", "application/rdf+xml"},
}
_WRONG_ON_PURPOSE = ("bad_query_wrong_media_type", "bad_query_missing", "bad_query_non_utf8", "bad_query_method")
_LONG = "\n#" + "x" * 2000
"""Behind a query, so that our client posts it."""


def run(folder: Path) -> Verdict:
    """Status class, format and boolean of what our client got."""
    verdict = Verdict()
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        query = _query(case["requests"][-1])
        if case["id"].startswith(("update", "bad_update", "bad_multiple", *_WRONG_ON_PURPOSE)) or query is None:
            verdict.contested.append(f"{case['id']}: our client never sends it")
            continue
        seen = _asked(folder, case, query)
        expected = _expected(case["requests"][-1])
        got = _seen(seen)
        if expected[2] is None:  # the source does not say which
            got = (*got[:2], None, got[3])
        verdict.check(case["id"], expected, got)
    return verdict


def _query(request: dict[str, Any]) -> str | None:
    fields = parse_qs(urlsplit(request["path"]).query) | parse_qs(request.get("body", ""))
    query = fields.get("query", [request.get("body", "")])
    return query[0] if len(query) == 1 and query[0] else None


def _asked(folder: Path, case: dict[str, Any], query: str) -> VisitResult:
    store = ox.Store()
    for file, name in case["graphs"]:
        store.load((folder / file).read_bytes(), format=ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(name))
    request = case["requests"][-1]
    parameters = [pair for pair in parse_qsl(urlsplit(request["path"]).query) if pair[0] != "query"]
    answers = SparqlResponseParser()
    with serving(Endpoint(store)) as site:
        url = f"{site.url}/sparql/?{urlencode(parameters)}".rstrip("?")
        text = query + (_LONG if request["method"] == "POST" else "")
        return visited(SparqlHandler(answers, WholeDataset(answers)), page_at(url, handler="sparql", query=text))


def _expected(request: dict[str, Any]) -> tuple[object, ...]:
    fine = "2xx" in request["expect_status"]
    boolean = request.get("expect_boolean")
    return (fine, request.get("expect_format"), None if boolean is None else boolean == "true", request["method"])


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
