from __future__ import annotations

import numpy as np
import pytest

from tests.observe.twin.links import link_hashes
from webstrata.columns import LINK
from webstrata.detect.memory import MAX_EXACT_LINKS
from webstrata.detect.memory import new_link_count
from webstrata.detect.memory import with_links
from webstrata.detect.memory import PageMemory, pack, remember, unpack
from webstrata.detect.verdict import judge
from webstrata.observe.text_runs import runs_of
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome


class Page:
    """Judged and remembered, visit after visit."""

    def __init__(self) -> None:
        self.memory, self.mark, self.at = PageMemory(), None, 0.0
        self.mark: Fingerprint | None

    def visit(self, text: str, links: tuple[str, ...] = (), address: str = "") -> Change:
        self.at += 86_400.0
        now = Fingerprint(raw=text + str(links), size=len(text), text=text, links=str(links))
        seen = Observation(
            url="https://a.test/page",
            at=self.at,
            status=200,
            fingerprint=now,
            lines=runs_of("", text),
            link_hashes=link_hashes(links),
            address=address,
        )
        change = judge(self.mark, False, seen, memory=self.memory)
        self.memory = unpack(pack(remember(self.memory, self.mark, seen, change)))
        self.mark = now
        return change


def test_back_to_an_earlier_version() -> None:
    """A page that returns to what it said before is reverted; one that says something new, or the same, is not."""
    page = Page()
    said = ["one", "two", "two", "one", "three", "two"]
    assert [page.visit(text).reverted for text in said] == [False, False, False, True, False, True]


def test_versions_are_remembered_up_to_twenty() -> None:
    """The twenty latest versions can be recognised; the memory of them does not grow."""
    page = Page()
    for n in range(50):
        page.visit(f"version {n}")
        assert len(page.memory.noise) < 3
    assert page.visit("version 32").reverted
    assert not page.visit("version 5").reverted
    assert len(page.memory.versions) == 160


def test_new_links_are_links_never_seen() -> None:
    """A link that comes back is not new, however long it was away."""
    page = Page()
    assert page.visit("a", ("u1", "u2")).new_links == 2
    assert page.visit("b", ("u1",)).new_links == 0
    assert page.visit("c", ("u1", "u2", "u3")).new_links == 1
    assert page.visit("c", ("u1", "u2", "u3")).new_links == 0


def _hashes(start: int, end: int) -> bytes:
    spread = np.arange(start, end, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return spread.astype(LINK).tobytes()


def test_many_links_become_a_filter() -> None:
    """Beyond 512 links nothing seen is called new, few new ones are called seen, and 8 KB hold it."""
    seen = b""
    for start in range(0, 5000, 100):
        seen = with_links(seen, _hashes(start, start + 100))
    assert len(seen) == 8192
    assert new_link_count(seen, _hashes(0, 5000)) == 0
    assert new_link_count(seen, _hashes(10_000, 11_000)) > 960


def test_a_full_filter_begins_afresh() -> None:
    """The set stays of use, whatever number of links a page goes through."""
    seen = b""
    for start in range(0, 60_000, 500):
        seen = with_links(seen, _hashes(start, start + 500))
    assert new_link_count(seen, _hashes(59_500, 60_000)) == 0
    assert new_link_count(seen, _hashes(100_000, 101_000)) > 800


def test_few_links_are_exact() -> None:
    """Up to 512 links every one is told apart."""
    seen = with_links(b"", _hashes(0, MAX_EXACT_LINKS))
    assert len(seen) == MAX_EXACT_LINKS * 8
    assert new_link_count(seen, _hashes(0, 2 * MAX_EXACT_LINKS)) == MAX_EXACT_LINKS


@pytest.mark.parametrize("packed", [b"", b"\x01", b"\x01\xc1", b"\x02abc", b"\x01\x93\x01\x02\x03", b"\xff" * 40])
def test_a_memory_that_cannot_be_read_is_an_empty_one(packed: bytes) -> None:
    """Damaged or foreign bytes cost the memory, never the visit."""
    assert unpack(packed) == PageMemory()


def test_nothing_to_write_for_a_page_that_stays() -> None:
    """A visit without news leaves the memory as it is."""
    page = Page()
    page.visit("words", ("u",))
    before = page.memory
    page.visit("words", ("u",))
    assert page.memory == before


def test_an_unreadable_run_is_no_run() -> None:
    """Lines of a strange length are passed over."""
    page = Page()
    page.visit("some words")
    seen = Observation(
        url="https://a.test/", at=9.0, status=200, fingerprint=Fingerprint(raw="x", size=1, text="y"), lines=b"odd"
    )
    assert judge(page.mark, False, seen, memory=page.memory).counts


MOVES = [
    # from, to, counts
    ("", "", False),
    ("", "https://www.a.test/page/", False),
    ("", "http://a.test/page?session=9", False),
    ("", "https://b.test/elsewhere", True),
    ("https://b.test/elsewhere", "", True),
    ("https://b.test/s/8f3c9a7d6e5b4a3f2c1d/x", "https://b.test/s/0a1b2c3d4e5f60718293/x", False),
]


@pytest.mark.parametrize(("then", "now", "counts"), MOVES)
def test_moves(then: str, now: str, counts: bool) -> None:
    """The same content from another address counts as moved; another scheme, slash, query or token does not."""
    page = Page()
    page.visit("words", address=then)
    change = page.visit("words", address=now)
    assert change.counts is counts
    assert (change.kind is ChangeKind.MOVED) is counts
    assert change.outcome is (Outcome.CHANGED if counts else Outcome.SAME)
    assert not page.visit("words", address=now).counts
