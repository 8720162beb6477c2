"""What a handler gives back, made of what its requests brought."""

from __future__ import annotations

from webstrata.ports import VisitClient
from webstrata.records import Failure, FetchResult, Page, Resource, VisitResult


def visit_result(
    page: Page,
    polite: VisitClient,
    got: FetchResult,
    *,
    main: int = -1,
    content: Resource | None = None,
    extras: tuple[Resource, ...] = (),
) -> VisitResult:
    return VisitResult(
        page=page,
        at=got.exchanges[0].at if got.exchanges else polite.now(),
        exchanges=got.exchanges,
        failure=got.failure,
        again_at=got.again_at,
        main=main,
        content=content,
        extras=extras,
    )


def joined(first: FetchResult, then: FetchResult) -> FetchResult:
    """Both in a row; how it ended is how the second one did."""
    return FetchResult(exchanges=first.exchanges + then.exchanges, failure=then.failure, again_at=then.again_at)


def failed(got: FetchResult, failure: Failure) -> FetchResult:
    """The same exchanges, which did not bring what was asked for."""
    return FetchResult(exchanges=got.exchanges, failure=failure, again_at=got.again_at)
