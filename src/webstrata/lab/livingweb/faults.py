"""`ServedFaults`: requests that the living web answers wrongly on purpose, by a seeded draw, and a ledger of them."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from http import HTTPStatus
from typing import Literal, get_args

from msgspec import Struct

from webstrata.lab.livingweb.site import ServedResponse

FaultKind = Literal["denied", "server error", "missing", "reset", "other content"]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_STATUSES: dict[FaultKind, HTTPStatus] = {
    "denied": HTTPStatus.FORBIDDEN,
    "server error": HTTPStatus.INTERNAL_SERVER_ERROR,
    "missing": HTTPStatus.NOT_FOUND,
}
_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_NO_RESPONSE = ServedResponse(status=0)
"""The connection is closed without a response."""


class ServedFault(Struct, frozen=True, kw_only=True):
    """One request that was answered wrongly."""

    at: float
    host: str
    path: str
    """With a leading slash, as requested."""
    kind: FaultKind


class ServedFaults:
    """Draws faults for a share of the requests. The draw depends only on the seed, the URL and the number of requests
    for it, so that it does not depend on other requests. robots.txt and sitemaps have none."""

    def __init__(self, share: float, seed: int = 1) -> None:
        self._share = share
        self._seed = seed
        self._requests: Counter[tuple[str, str]] = Counter()
        self.ledger: list[ServedFault] = []

    def response(self, host: str, path: str, at: float) -> ServedResponse | None:
        """The wrong response to this request; None if it is answered as usual."""
        if path in ("/robots.txt", "/sitemap.xml"):
            return None
        number = self._requests[host, path]
        self._requests[host, path] += 1
        draw = blake2b(
            f"{self._seed} {host} {path} {number}".encode("utf-8", "surrogateescape"), digest_size=9
        ).digest()
        if int.from_bytes(draw[:8], "big") / 2**64 >= self._share:
            return None
        kind = KINDS[draw[8] % len(KINDS)]
        self.ledger.append(ServedFault(at=at, host=host, path=path, kind=kind))
        if kind == "reset":
            return _NO_RESPONSE
        if kind == "other content":
            body = f"<title>Another page</title><main><p>The content of request {number} of {path} only.</p></main>"
            return ServedResponse(status=HTTPStatus.OK, headers=_HTML, body=body.encode("utf-8", "replace"))
        return ServedResponse(status=_STATUSES[kind], headers=_HTML, body=b"<p>This is an error.")
