"""Only validators that can be sent back are kept with a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply

PAGE = "http://a.test/page"
DATE = "Sun, 15 Nov 2026 08:30:00 GMT"

HEADERS: dict[str, tuple[dict[str, Any], tuple[str | None, str | None]]] = {
    "tab": ({"ETag": '"a\tb"'}, (None, None)),
    "DEL": ({"ETag": '"a\x7fb"'}, (None, None)),
    "not ASCII": ({"ETag": '"\xfc"', "Last_Modified": DATE}, (None, DATE)),
    "tab in the date": ({"ETag": '"a"', "Last_Modified": "Sun,\t15 Nov"}, ('"a"', None)),
    "too long": ({"ETag": "x" * 5000}, (None, None)),
}


@pytest.mark.parametrize("name", HEADERS)
def test_unsendable_validators(run_scenario: Callable[..., None], name: str) -> None:
    """A page whose validators cannot be sent back is visited again and again; every visit sends its request."""

    headers, kept = HEADERS[name]

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("<p>Words that stay.</p>", **headers))
        await archiver.watch(PAGE)
        for _ in range(3):
            assert await archiver.crawl(after_s=30 * DAY_S) == 1
        assert await archiver.outcomes(PAGE) == ["new", "same", "same"]
        assert len(archiver.servers.requests("a.test", "/page")) == 3
        page = await archiver.page(PAGE)
        assert (page.etag, page.last_modified) == kept

    run_scenario(scenario)
