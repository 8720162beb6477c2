"""What a handler gives back, made of what its requests brought."""

from __future__ import annotations

from webstrata.ports import Polite
from webstrata.records import Failure, Followed, Page, Resource, Visited


def visited(
    page: Page,
    polite: Polite,
    got: Followed,
    *,
    main: int = -1,
    content: Resource | None = None,
    extras: tuple[Resource, ...] = (),
) -> Visited:
    return Visited(
        page=page,
        at=got.exchanges[0].at if got.exchanges else polite.now(),
        exchanges=got.exchanges,
        failure=got.failure,
        again_at=got.again_at,
        main=main,
        content=content,
        extras=extras,
    )


def joined(first: Followed, then: Followed) -> Followed:
    """Both in a row; how it ended is how the second one did."""
    return Followed(exchanges=first.exchanges + then.exchanges, failure=then.failure, again_at=then.again_at)


def failed(got: Followed, failure: Failure) -> Followed:
    """The same exchanges, which did not bring what was asked for."""
    return Followed(exchanges=got.exchanges, failure=failure, again_at=got.again_at)
