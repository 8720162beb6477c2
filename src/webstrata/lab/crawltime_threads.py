"""Threads on the clock: a request keeps its thread for as long as the living web says that it takes."""

from __future__ import annotations

import asyncio

from webstrata.ports import Web
from webstrata.records import Exchange, Failure, Permit, Posted, Validators


class ThreadedWeb:
    """A web (paced by the clock) that makes so many requests at a time; the others wait in the order they came.

    The real web has the same limit on sockets, but on a jumping clock those are free again at once.
    """

    def __init__(self, web: Web, threads: int) -> None:
        self._web = web
        self._threads = asyncio.Semaphore(threads)

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        return await self._web.resolve(host, port)

    async def fetch(
        self,
        permit: Permit,
        *,
        accept: str = "*/*",
        validators: Validators | None = None,
        posted: Posted | None = None,
    ) -> Exchange:
        async with self._threads:
            return await self._web.fetch(permit, accept=accept, validators=validators, posted=posted)

    async def close(self) -> None:
        await self._web.close()
