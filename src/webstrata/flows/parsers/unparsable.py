"""`UnparsableContents`: the contents that ended a parser process or exceeded its limits, in memory and in the store.

Such a content is recognised by its digest, also after a restart, and is not given to a parser again. The digest is
computed only for contents that have the size of a known one.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable

from webstrata.errors import WebstrataError
from webstrata.flows.parsers.tasks import JsonLdTask, Task, kind_of_task
from webstrata.records import UnparsableContent

log = logging.getLogger("webstrata.crawl")

MAX_CONTENTS = 10_000
"""Contents that are remembered; the oldest are forgotten."""


class UnparsableContents:
    """The contents that are known; `save` stores a new one."""

    def __init__(
        self,
        known: Iterable[UnparsableContent] = (),
        save: Callable[[UnparsableContent], Awaitable[None]] | None = None,
    ) -> None:
        self._save = save
        self._by_key: dict[str, UnparsableContent] = {}
        self._sizes: dict[int, int] = {}
        """Size -> number of known contents of that size."""
        for content in sorted(known, key=lambda content: content.at):
            self._add(content)

    async def find(self, task: Task) -> UnparsableContent | None:
        """What is known about the content of a task."""
        if len(task.body) not in self._sizes:
            return None
        return self._by_key.get(await content_key(task))

    async def remember(self, content: UnparsableContent) -> None:
        """Add a content, and store it. A failure of the store is logged: the content is then found again later."""
        self._add(content)
        if self._save is not None:
            try:
                await self._save(content)
            except WebstrataError as problem:
                log.warning("a content that cannot be parsed was not stored: %s", problem)

    def _add(self, content: UnparsableContent) -> None:
        self._drop(content.key)
        while len(self._by_key) >= MAX_CONTENTS:
            self._drop(next(iter(self._by_key)))
        self._by_key[content.key] = content
        self._sizes[content.size] = self._sizes.get(content.size, 0) + 1

    def _drop(self, key: str) -> None:
        dropped = self._by_key.pop(key, None)
        if dropped is not None:
            self._sizes[dropped.size] -= 1
            if not self._sizes[dropped.size]:
                del self._sizes[dropped.size]


async def content_key(task: Task) -> str:
    """The key of a task's content. A large body is hashed in a thread, which does not hold the interpreter lock."""
    return await asyncio.to_thread(_key, task)


def _key(task: Task) -> str:
    digest = hashlib.sha256(kind_of_task(task).encode("utf-8", "replace") + b"\0")
    digest.update(task.body)
    if isinstance(task, JsonLdTask):
        for url, context in sorted(task.contexts.items()):
            digest.update(url.encode("utf-8", "replace") + b"\0" + hashlib.sha256(context).digest())
    return digest.hexdigest()
