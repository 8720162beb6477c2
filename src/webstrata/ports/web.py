"""The web ports: the HTTP client, the polite client of one visit, and access handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from webstrata.records import Exchange, Failure, FetchResult, Page, Permit, PostBody, Validators, VisitResult, Wait

BeforeSend = Callable[[], Awaitable[None]]
"""Called when a connection is ready and the request is about to be sent; waits until it may be."""


class Web(Protocol):
    """The only way to send HTTP requests. The adapter enforces the address guard and the limits."""

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        """The address and port that a request to this host connects to; the address guard has accepted it."""
        ...

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: PostBody | None = None,
        before_send: BeforeSend | None = None,
        total_s: float | None = None,
    ) -> Exchange:
        """Send one request and read its response; do not follow redirects. Network errors are returned, not raised.

        The request is sent at most once. `before_send` is awaited between connecting and sending; again if the
        connection was closed meanwhile and another one is used. `total_s` limits the time of this exchange further than
        the adapter does; waiting in `before_send` does not count.
        """
        ...

    async def close(self) -> None: ...


class VisitClient(Protocol):
    """The client that a handler uses during one visit. It obtains a permit for every request and waits where needed.

    It returns a `Wait` only before the visit's first request. If a host requires a longer wait after that, the request
    fails.
    """

    async def get(
        self, url: str, *, accept: str, validators: Validators | None = None, large_body: bool = False
    ) -> FetchResult | Wait:
        """Send a GET request and follow its redirects.

        `large_body`: the handler does not look at the body, so a large one need not be in memory (`Exchange.large`).
        Otherwise it is truncated at the limit of what is held in memory.
        """
        ...

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult | Wait:
        """Send a query that is too long for a URL. Redirects that keep the method (307, 308) are followed."""
        ...

    def now(self) -> float: ...


class Handler(Protocol):
    """One way to get the content of a page. `webstrata.testing.handler.check_handler` is its contract.

    A handler sends requests only through `client`, does not raise for network errors, and returns a `Wait` unchanged.
    """

    @property
    def name(self) -> str: ...

    async def visit(self, page: Page, client: VisitClient) -> VisitResult | Wait: ...
