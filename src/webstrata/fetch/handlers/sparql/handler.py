"""The `sparql` handler: the content of a page is the result of a query to a SPARQL 1.1 endpoint, or its whole dataset.

The query is the user's (`PageRules.query`) or the `query` parameter of the page's URL. Without a query the whole
dataset is fetched, page by page (`whole_dataset.py`). Only complete responses count: a response that is truncated,
that reached the row limit of the endpoint, or that is an error page with status 200 is a failure, never a change.

Responses are decoded and parsed in another process, within limits. One that exceeds them is a failure, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlencode

from msgspec import Struct

from webstrata.coding import EncodedBody, encoded_body
from webstrata.errors import ParserError
from webstrata.fetch.handlers.negotiate import bare_type
from webstrata.fetch.handlers.sparql.query import Form, form_of, query_url, split_query
from webstrata.fetch.handlers.visit_result import failed, local_failure, visit_result
from webstrata.ports import VisitClient
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Page, PostBody, Resource, VisitResult, Wait

RESULTS = "application/sparql-results+json"
ACCEPT_RESULTS = f"{RESULTS},application/sparql-results+xml;q=0.8"
ACCEPT_GRAPH = (
    "application/n-triples,application/n-quads;q=0.9,text/turtle;q=0.8,application/rdf+xml;q=0.6,"
    "application/ld+json;q=0.4"
)
_MAX_URL = 2000
"""Longer queries are posted, because servers and proxies limit URLs to different lengths."""


class ResultRows(Protocol):
    """The parsed result of SELECT or ASK."""

    @property
    def vars(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> Sequence[tuple[object, ...]]: ...


class CanonicalForm(Protocol):
    """Results in canonical form."""

    @property
    def rows(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class ResultsParser(Protocol):
    """Parses responses (`webstrata.flows.parsers.handler_parsers`).

    Raises ValueError if a response is incomplete or exceeds a limit, and ParserError.
    """

    async def canonical(self, body: EncodedBody, media_type: str) -> CanonicalForm: ...
    async def triples(self, body: EncodedBody, media_type: str) -> int: ...


class SparqlRequest(Struct, frozen=True, kw_only=True):
    """A query and its endpoint."""

    endpoint: str
    query: str
    url: str = ""
    """The URL with the query, if the page is watched under it."""


class SparqlHandler:
    """Sends queries to endpoints. `dataset` visits pages without a query."""

    name = "sparql"

    def __init__(self, parser: ResultsParser, dataset: DatasetHandler) -> None:
        self._parser = parser
        self._dataset = dataset

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        try:
            return await self._visit(page, client)
        except ParserError as problem:
            return local_failure(page, client, problem)

    async def _visit(self, page: Page, client: VisitClient) -> VisitResult | Wait:
        request = sparql_request_of(page)
        if not request.query.strip():
            return await self._dataset.visit(page, client)
        form = form_of(request.query)
        if form is None:
            detail = "not a query: SELECT, CONSTRUCT, DESCRIBE and ASK can be watched"
            return visit_result(page, client, FetchResult(failure=Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        accept = page.page_rules.accept if page.page_rules is not None else ""
        fetched = await send_query(request, form, client, accept)
        if isinstance(fetched, Wait):
            return fetched
        response = fetched.answer
        if fetched.failure is not None or response is None or response.status != 200:
            return visit_result(page, client, fetched)
        try:
            content = await self._content(page, response, form)
        except UnusableResponse as error:
            return visit_result(page, client, failed(fetched, error.failure))
        return visit_result(page, client, fetched, content=content)

    async def _content(self, page: Page, response: Exchange, form: Form) -> Resource | None:
        """The results in canonical form; None for a graph, since the body of the response is its content."""
        body, media_type = usable_body(response)
        try:
            if form in ("CONSTRUCT", "DESCRIBE"):
                refuse_limit(response, await self._parser.triples(body, media_type))
                return None
            results = await self._parser.canonical(body, media_type)
        except ValueError as error:
            raise UnusableResponse(FailureKind.PARTIAL, str(error)) from None
        refuse_limit(response, results.rows)
        return Resource(url=f"urn:data:{page.url}", at=response.at, content_type=RESULTS, body=results.body)


class DatasetHandler(Protocol):
    """Fetches a whole dataset (`webstrata.fetch.handlers.sparql.whole_dataset.WholeDataset`)."""

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait: ...


class UnusableResponse(Exception):  # noqa: N818 - it carries an outcome
    """A response that must not become the content of the page."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(kind=kind, detail=detail[:300])


def sparql_request_of(page: Page) -> SparqlRequest:
    """The query of the user, else the query in the URL of the page."""
    user_query = page.page_rules.query if page.page_rules is not None else ""
    if user_query.strip():
        return SparqlRequest(endpoint=page.url, query=user_query)
    endpoint, query = split_query(page.url)
    return SparqlRequest(endpoint=endpoint, query=query, url=page.url)


async def send_query(request: SparqlRequest, form: Form, client: VisitClient, accept: str = "") -> FetchResult | Wait:
    """Send the query by GET, or by POST if the URL would be too long."""
    accept = accept or (ACCEPT_GRAPH if form in ("CONSTRUCT", "DESCRIBE") else ACCEPT_RESULTS)
    url = request.url or query_url(request.endpoint, request.query)
    if len(url) <= _MAX_URL:
        return await client.get(url, accept=accept)
    form_body = urlencode({"query": request.query}).encode("ascii")
    posted = PostBody(body=form_body, content_type="application/x-www-form-urlencoded")
    return await client.post(request.endpoint, posted, accept=accept)


def usable_body(response: Exchange) -> tuple[EncodedBody, str]:
    """(body, media type) of a response; UnusableResponse if it is incomplete or a web page."""
    if response.truncated is not None:
        raise UnusableResponse(FailureKind.PARTIAL, f"the response was truncated ({response.truncated})")
    media_type = bare_type(response.header("content-type"))
    if "html" in media_type:
        raise UnusableResponse(FailureKind.UNEXPECTED, "a web page instead of results, with status 200")
    incomplete = response.header("x-sql-state") or response.header("x-sql-message")
    if incomplete is not None:
        message = response.header("x-sql-message") or incomplete
        raise UnusableResponse(FailureKind.PARTIAL, f"the endpoint reports an incomplete response: {message}")
    return encoded_body(response), media_type


def refuse_limit(response: Exchange, rows: int) -> None:
    """Raise UnusableResponse if the response has as many rows as the endpoint allows."""
    limit = response.header("x-sparql-maxrows") or ""
    if limit.isascii() and limit.isdigit() and 0 < int(limit[:18]) <= rows:
        raise UnusableResponse(FailureKind.PARTIAL, f"the endpoint returns at most {limit} rows")
