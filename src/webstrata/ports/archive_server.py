"""Servers of other archives: asking them politely, and keeping what they answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from webstrata.records import Failure, ServerAnswer

AnswerCheck = Callable[[ServerAnswer], Failure | None]
"""What is wrong with an answer; None if it can be used. An answer that is wrong is asked for again."""


class ArchiveServer(Protocol):
    """Sends requests to servers of archives: politely, with back-off, and from a cache where that has the answer."""

    async def get(self, url: str, *, accept: str, check: AnswerCheck) -> ServerAnswer | Failure:
        """The answer to a request; the last failure, if several tries failed."""
        ...

    def keep(self, url: str, answer: ServerAnswer, max_age_s: float) -> None:
        """Keep an answer, so that the same request is not sent again within this time."""
        ...


class AnswerStore(Protocol):
    """Answers that are kept between imports."""

    def get(self, url: str, now: float) -> ServerAnswer | None:
        """The answer to a request that is not too old."""
        ...

    def put(self, url: str, answer: ServerAnswer, *, now: float, until: float) -> None:
        """Keep an answer until then, or until newer answers need its room."""
        ...
