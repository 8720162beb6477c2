"""Text on its way into a column."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from webstrata.clock import ManualClock
from webstrata.errors import UsageError
from webstrata.records import Fingerprint, NewPage
from webstrata.remember.engine import open_store
from webstrata.remember.text import named, packed, required, stored

NAUGHTY = json.loads((Path(__file__).parents[1] / "data/conformance/naughty-strings/cases.json").read_text())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), ("plain", "plain"), ("é\U0001f600", "é\U0001f600"), ("a\x00", "a\ufffd"), ("\udc80é", "\ufffdé")],
)
def test_stored(text: str, expected: str) -> None:
    """Only what no column can hold is replaced."""
    assert stored(text) == required(text) == expected


def test_named_refuses() -> None:
    """A user's name is kept as it is or refused, never changed."""
    assert named("tag ✓", "tag") == "tag ✓"
    with pytest.raises(UsageError, match="U\\+0000"):
        named("a\x00", "tag")


def test_packed_survives_half_pairs() -> None:
    """A record with half a surrogate pair deep inside is still written."""
    assert packed(Fingerprint(raw="", size=0, noise=("\ud83d",))).count("\ufffd") == 1
    assert packed({"\ud83d": ["\x00"]}) == '{"\ufffd":["\\u0000"]}'


def test_naughty_strings_round_trip_as_tags(store_url: str) -> None:
    """Every string of the list is a tag that comes back as given and finds its page."""
    tags = sorted({case["text"] for case in NAUGHTY})

    async def run() -> None:
        store = open_store(store_url, ManualClock())
        new = [NewPage(url=f"https://a.example/{n}", host="a.example", tags=(tag,)) for n, tag in enumerate(tags)]
        await store.pages.add(new, 0.0)
        await store.pages.add([NewPage(url="https://a.example/all", host="a.example", tags=tuple(tags))], 0.0)
        everything = await store.pages.get("https://a.example/all")
        assert everything is not None
        assert list(everything.tags) == tags
        assert await store.maintenance.tag_counts() == dict.fromkeys(tags, 2)
        for n in range(0, len(tags), 10):
            found = [page.url async for page in store.pages.stream(tag=tags[n])]
            assert found == [f"https://a.example/{n}", "https://a.example/all"]
        await store.close()

    asyncio.run(run())
