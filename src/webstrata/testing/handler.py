"""What every access handler must keep. A new handler is done when `check_handler(handler)` returns.

It is visited through a scripted `Polite` that has no network behind it, so whatever a handler gets past `polite` is
seen by its absence here, and by `tests/test_architecture.py`, which lets nobody but `fetch` import an HTTP client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from webstrata.ports import Handler
from webstrata.records import (
    Exchange,
    Failure,
    FailureKind,
    FetchResult,
    Page,
    PageRules,
    PostBody,
    Validators,
    VisitResult,
    Wait,
)

_AT = 1_790_000_000.0
_MOST_ASKED = 100

_STATUSES = (200, 203, 204, 206, 304, 400, 401, 404, 410, 429, 500, 503)
_BODIES = (b"", b"\x00\xff\xfe", b"<p>text", b'{"head": {', b"@prefix", b"\x1f\x8b\x08cut", b"x" * 100_000)
_TYPES = (
    None,
    "",
    ";;",
    "text/plain",
    "application/json",
    "application/sparql-results+json",
    "text/turtle",
    "application/ld+json",
    "application/xml",
    "application/octet-stream; x=\x00",
)


class ScriptedPolite:
    """Gives prepared answers in turn, the last one again and again; remembers what was asked and given."""

    def __init__(self, *answers: FetchResult | Wait) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.given: list[Exchange] = []

    def now(self) -> float:
        return _AT + len(self.asked)

    async def get(self, url: str, *, accept: str, validators: Validators | None = None) -> FetchResult | Wait:
        assert "\r" not in accept, "an Accept header is one line"
        assert "\n" not in accept, "an Accept header is one line"
        return self._next(url)

    async def post(self, url: str, posted: PostBody, *, accept: str) -> FetchResult | Wait:
        return self._next(url)

    def _next(self, url: str) -> FetchResult | Wait:
        assert url.startswith(("http://", "https://")), f"asked for {url!r}"
        self.asked.append(url)
        assert len(self.asked) <= _MOST_ASKED, "a handler ends, whatever it is answered"
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, FetchResult):
            # each time its own objects: a handler that mixes up its exchanges must not get away with it
            fresh = tuple([_copy(one, url, self.now()) for one in answer.exchanges])
            self.given += fresh
            return FetchResult(exchanges=fresh, failure=answer.failure, again_at=answer.again_at)
        return answer


def check_handler(handler: Handler, page: Page | None = None) -> None:
    """Raise AssertionError with the broken promise. `page` is one that the handler can visit."""
    asyncio.run(_check(handler, page or _page(handler)))


async def _check(handler: Handler, page: Page) -> None:
    assert handler.name, "a handler has a name"
    await _check_wait(handler, page)
    await _check_failures(handler, page)
    for answer in _answers():
        await _check_answer(handler, page, answer)


async def _check_wait(handler: Handler, page: Page) -> None:
    wait = Wait(until=_AT + 60, why="asked for a rest")
    polite = ScriptedPolite(wait)
    assert await handler.visit(page, polite) is wait, "a wait is given back as it came"
    assert len(polite.asked) == 1, "after a wait nothing more is asked"


async def _check_failures(handler: Handler, page: Page) -> None:
    for kind in FailureKind:
        failure = Failure(kind=kind, detail="as scripted")
        polite = ScriptedPolite(FetchResult(failure=failure, again_at=_AT + 99))
        seen = await _visited(handler, page, polite)
        assert seen.failure is not None, f"a failed request ({kind}) is a failed visit"
        assert seen.content is None, f"a failed visit ({kind}) has no content"


async def _check_answer(handler: Handler, page: Page, answer: Exchange) -> None:
    """One answer to everything; then the same with a failure behind it."""
    failure = FetchResult(failure=Failure(kind=FailureKind.RESET))
    for script in ([FetchResult(exchanges=(answer,))], [FetchResult(exchanges=(answer,)), failure]):
        polite = ScriptedPolite(*script)
        seen = await _visited(handler, page, polite)
        if polite.given:
            assert seen.at == polite.given[0].at, "a visit begins with its first request"
        if answer.status != 200:
            assert seen.content is None, f"status {answer.status} is no content"
        if seen.failure is None:
            assert seen.answer is not None, "a visit has an answer or a failure"


async def _visited(handler: Handler, page: Page, polite: ScriptedPolite) -> VisitResult:
    try:
        seen = await handler.visit(page, polite)
    except Exception as problem:
        raise AssertionError(f"a handler raises nothing for what it is answered: {problem!r}") from problem
    assert isinstance(seen, VisitResult), "what was asked came without a wait"
    assert seen.page is page, "a visit is of the page that was asked for"
    assert len(seen.exchanges) == len(polite.given), "every exchange is given back"
    assert all(one is other for one, other in zip(seen.exchanges, polite.given, strict=True)), "in order"
    for made in (seen.content, *seen.extras):
        assert made is None or made.url.startswith("urn:"), "what was made has a name of its own"
    return seen


def _page(handler: Handler) -> Page:
    page_rules = PageRules(handler=handler.name)
    return Page(id=1, url="http://example.org/page", host="example.org", page_rules=page_rules)


def _answers() -> Iterator[Exchange]:
    for status in _STATUSES:
        yield _exchange(status, "text/html" if status != 200 else "text/plain", b"text")
    for kind in _TYPES:
        for body in _BODIES:
            yield _exchange(200, kind, body)
    yield _exchange(200, "text/turtle", b"<a> <b> <c", encoding="gzip")
    yield _exchange(200, "application/sparql-results+json", b'{"boolean": true}', truncated=True)


def _exchange(
    status: int, kind: str | None, body: bytes, *, encoding: str | None = None, truncated: bool = False
) -> Exchange:
    named = (("content-type", kind), ("content-encoding", encoding))
    headers = tuple((name, value) for name, value in named if value is not None)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1")
    return Exchange(
        url="",
        at=_AT,
        duration_s=0.1,
        request_head=b"GET / HTTP/1.1\r\n\r\n",
        address="192.0.2.1",
        status=status,
        response_head=b"HTTP/1.1 %d Scripted\r\n%s\r\n" % (status, head),
        headers=headers,
        body=body,
        truncated="disconnect" if truncated else None,
    )


def _copy(exchange: Exchange, url: str, at: float) -> Exchange:
    return Exchange(**{name: getattr(exchange, name) for name in exchange.__struct_fields__} | {"url": url, "at": at})
