"""The `sparql` handler: a page's content is what a SPARQL 1.1 endpoint answers to a query, or all that it holds.

The query is the `query` of the page's URL, or the user's own beside it; without one the whole dataset is read, page by
page (`sparql_everything`). Only whole answers count: one that is cut off, that reached the endpoint's own limit of
rows, or that is an error in the clothes of a page is a failure, never a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar
from urllib.parse import urlencode

from msgspec import Struct

from webstrata.coding import decode
from webstrata.fetch.handlers.negotiate import bare_type
from webstrata.fetch.handlers.sparql.query import Form, form_of, query_url, split_query
from webstrata.fetch.handlers.visit_result import failed, visit_result
from webstrata.ports import VisitClient
from webstrata.records import Exchange, Failure, FailureKind, FetchResult, Page, PostBody, Resource, VisitResult, Wait

RESULTS = "application/sparql-results+json"
ACCEPT_RESULTS = f"{RESULTS},application/sparql-results+xml;q=0.8"
ACCEPT_GRAPH = (
    "application/n-triples,application/n-quads;q=0.9,text/turtle;q=0.8,application/rdf+xml;q=0.6,"
    "application/ld+json;q=0.4"
)
_LONGEST_URL = 2000
"""Longer queries are posted: servers and proxies between cut URLs at different lengths."""
_LARGEST = 500_000_000
_LARGEST_RATIO = 500.0

R = TypeVar("R", bound="ResultRows")


class ResultRows(Protocol):
    """Results of SELECT or ASK, read."""

    @property
    def vars(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> Sequence[tuple[object, ...]]: ...


class ResultsParser(Protocol[R]):
    """What reads answers (`webstrata.observe.data.sparql.responses.SparqlAnswers`); ValueError for what is not whole."""

    def results(self, body: bytes, media_type: str) -> R: ...
    def canonical(self, results: R) -> bytes: ...
    def triples(self, body: bytes, media_type: str, url: str) -> int: ...


class SparqlRequest(Struct, frozen=True, kw_only=True):
    """A query and where it goes."""

    endpoint: str
    query: str
    url: str = ""
    """The whole as a URL, where the user gave it so."""


class SparqlHandler(Generic[R]):
    """Asks endpoints. `everything` answers pages without a query."""

    name = "sparql"

    def __init__(self, answers: ResultsParser[R], everything: DatasetReader) -> None:
        self._answers = answers
        self._everything = everything

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait:
        question = sparql_request_of(page)
        if not question.query.strip():
            return await self._everything.visit(page, polite)
        form = form_of(question.query)
        if form is None:
            detail = "not a query: SELECT, CONSTRUCT, DESCRIBE and ASK can be watched"
            return visit_result(page, polite, FetchResult(failure=Failure(kind=FailureKind.UNEXPECTED, detail=detail)))
        got = await send_query(question, form, polite, page.page_rules.accept if page.page_rules is not None else "")
        if isinstance(got, Wait):
            return got
        answer = got.answer
        if got.failure is not None or answer is None or answer.status != 200:
            return visit_result(page, polite, got)
        try:
            content = await asyncio.to_thread(self._content, page, answer, form)
        except UnusableAnswer as why:
            return visit_result(page, polite, failed(got, why.failure))
        return visit_result(page, polite, got, content=content)

    def _content(self, page: Page, answer: Exchange, form: Form) -> Resource | None:
        """Results in their canonical form; of a graph nothing, since its body is content as it stands."""
        body, media_type = read_body(answer)
        try:
            if form in ("CONSTRUCT", "DESCRIBE"):
                refuse_limit(answer, self._answers.triples(body, media_type, answer.url))
                return None
            results = self._answers.results(body, media_type)
        except ValueError as why:
            raise UnusableAnswer(FailureKind.PARTIAL, str(why)) from None
        refuse_limit(answer, len(results.rows))
        made = self._answers.canonical(results)
        return Resource(url=f"urn:data:{page.url}", at=answer.at, content_type=RESULTS, body=made)


class DatasetReader(Protocol):
    """Reads a whole dataset."""

    async def visit(self, page: Page, polite: VisitClient) -> VisitResult | Wait: ...


class UnusableAnswer(Exception):  # noqa: N818 - an outcome on its way out
    """An answer that must not count as the page's content."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(kind=kind, detail=detail[:300])


def sparql_request_of(page: Page) -> SparqlRequest:
    """The user's query, else the one that the page's URL carries."""
    own = page.page_rules.query if page.page_rules is not None else ""
    if own.strip():
        return SparqlRequest(endpoint=page.url, query=own)
    endpoint, query = split_query(page.url)
    return SparqlRequest(endpoint=endpoint, query=query, url=page.url)


async def send_query(question: SparqlRequest, form: Form, polite: VisitClient, accept: str = "") -> FetchResult | Wait:
    """By GET, or by POST where the URL would become too long."""
    accept = accept or (ACCEPT_GRAPH if form in ("CONSTRUCT", "DESCRIBE") else ACCEPT_RESULTS)
    url = question.url or query_url(question.endpoint, question.query)
    if len(url) <= _LONGEST_URL:
        return await polite.get(url, accept=accept)
    form_body = urlencode({"query": question.query}).encode("ascii")
    posted = PostBody(body=form_body, content_type="application/x-www-form-urlencoded")
    return await polite.post(question.endpoint, posted, accept=accept)


def read_body(answer: Exchange) -> tuple[bytes, str]:
    """(body, media type) of an answer that may be whole; Unusable for one that is not, or is a page for people."""
    if answer.truncated is not None:
        raise UnusableAnswer(FailureKind.PARTIAL, f"the answer was cut off ({answer.truncated})")
    media_type = bare_type(answer.header("content-type"))
    if "html" in media_type:
        raise UnusableAnswer(FailureKind.UNEXPECTED, "a web page instead of results, with status 200")
    incomplete = answer.header("x-sql-state") or answer.header("x-sql-message")
    if incomplete is not None:
        said = answer.header("x-sql-message") or incomplete
        raise UnusableAnswer(FailureKind.PARTIAL, f"the endpoint says that its answer is incomplete: {said}")
    decoded = decode(answer.body, answer.header("content-encoding"), max_bytes=_LARGEST, max_ratio=_LARGEST_RATIO)
    if decoded.problem is not None:
        raise UnusableAnswer(FailureKind.PARTIAL, f"the answer cannot be decoded: {decoded.problem}")
    return decoded.body, media_type


def refuse_limit(answer: Exchange, rows: int) -> None:
    """Unusable where the answer is as long as the endpoint lets answers be."""
    limit = answer.header("x-sparql-maxrows") or ""
    if limit.isascii() and limit.isdigit() and 0 < int(limit[:18]) <= rows:
        raise UnusableAnswer(FailureKind.PARTIAL, f"the endpoint gives no more than {limit} rows")
