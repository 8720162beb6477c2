"""Functions that build the result of a visit from the results of its requests."""

from __future__ import annotations

from webstrata.errors import ParserError
from webstrata.ports import VisitClient
from webstrata.records import Failure, FailureKind, FetchResult, Page, Resource, VisitResult


def visit_result(
    page: Page,
    client: VisitClient,
    fetched: FetchResult,
    *,
    main: int = -1,
    content: Resource | None = None,
    extras: tuple[Resource, ...] = (),
) -> VisitResult:
    """The result of a visit whose requests brought `fetched`; `main` is the index of the page's own exchange."""
    return VisitResult(
        page=page,
        at=fetched.exchanges[0].at if fetched.exchanges else client.now(),
        exchanges=fetched.exchanges,
        failure=fetched.failure,
        again_at=fetched.again_at,
        main=main,
        content=content,
        extras=extras,
    )


def joined(first: FetchResult, then: FetchResult) -> FetchResult:
    """The exchanges of both requests, with the end of the second one."""
    return FetchResult(exchanges=first.exchanges + then.exchanges, failure=then.failure, again_at=then.again_at)


def failed(fetched: FetchResult, failure: Failure) -> FetchResult:
    """The same exchanges with this failure: the responses are not usable."""
    return FetchResult(exchanges=fetched.exchanges, failure=failure, again_at=fetched.again_at)


def local_failure(page: Page, client: VisitClient, problem: ParserError) -> VisitResult:
    """The result of a visit whose responses could not be parsed by a fault of this machine: it must be repeated."""
    failure = Failure(kind=FailureKind.LOCAL, detail=str(problem)[:300])
    return visit_result(page, client, FetchResult(failure=failure))
