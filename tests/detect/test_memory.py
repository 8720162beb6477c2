from __future__ import annotations

import numpy as np
import pytest

from webstrata.columns import LINK
from webstrata.detect.memory import MAX_EXACT_LINKS, PageMemory, new_link_count, pack, remember, unpack, with_links
from webstrata.detect.verdict import judge
from webstrata.observe.kernel.python_links import link_hashes
from webstrata.observe.text_runs import runs_of
from webstrata.records import Change, ChangeKind, Fingerprint, Observation, Outcome


class Page:
    """A page whose visits are judged and remembered."""

    def __init__(self) -> None:
        self.memory, self.at = PageMemory(), 0.0
        self.fingerprint: Fingerprint | None = None

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
        change = judge(self.fingerprint, False, seen, memory=self.memory)
        self.memory = unpack(pack(remember(self.memory, self.fingerprint, seen, change)))
        self.fingerprint = now
        return change


def test_back_to_an_earlier_version() -> None:
    """A page that returns to an earlier version is reverted; a new or an unchanged version is not."""
    page = Page()
    texts = ["one", "two", "two", "one", "three", "two"]
    assert [page.visit(text).reverted for text in texts] == [False, False, False, True, False, True]


def test_versions_are_remembered_up_to_twenty() -> None:
    """The latest 20 versions are recognised, and the memory does not grow beyond them."""
    page = Page()
    for n in range(50):
        page.visit(f"version {n}")
        assert len(page.memory.noise) < 3
    assert page.visit("version 32").reverted
    assert not page.visit("version 5").reverted
    assert len(page.memory.versions) == 160


def test_new_links_are_links_never_seen() -> None:
    """A link that returns is not new, however long it was missing."""
    page = Page()
    assert page.visit("a", ("u1", "u2")).new_links == 2
    assert page.visit("b", ("u1",)).new_links == 0
    assert page.visit("c", ("u1", "u2", "u3")).new_links == 1
    assert page.visit("c", ("u1", "u2", "u3")).new_links == 0


def _hashes(start: int, end: int) -> bytes:
    spread = np.arange(start, end, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return spread.astype(LINK).tobytes()


def test_many_links_become_a_filter() -> None:
    """Beyond 512 links no known link is reported as new, few new links are taken for known, and 8 KB suffice."""
    seen = b""
    for start in range(0, 5000, 100):
        seen = with_links(seen, _hashes(start, start + 100))
    assert len(seen) == 8192
    assert new_link_count(seen, _hashes(0, 5000)) == 0
    assert new_link_count(seen, _hashes(10_000, 11_000)) > 960


def test_a_full_filter_is_restarted() -> None:
    """The set remains useful for any number of links over time."""
    seen = b""
    for start in range(0, 60_000, 500):
        seen = with_links(seen, _hashes(start, start + 500))
    assert new_link_count(seen, _hashes(59_500, 60_000)) == 0
    assert new_link_count(seen, _hashes(100_000, 101_000)) > 800


def test_few_links_are_exact() -> None:
    """Up to 512 links the set is exact."""
    seen = with_links(b"", _hashes(0, MAX_EXACT_LINKS))
    assert len(seen) == MAX_EXACT_LINKS * 8
    assert new_link_count(seen, _hashes(0, 2 * MAX_EXACT_LINKS)) == MAX_EXACT_LINKS


@pytest.mark.parametrize("packed", [b"", b"\x01", b"\x01\xc1", b"\x02abc", b"\x01\x93\x01\x02\x03", b"\xff" * 40])
def test_a_memory_that_cannot_be_decoded_is_empty(packed: bytes) -> None:
    """Damaged bytes or bytes of another format give an empty memory, not an error."""
    assert unpack(packed) == PageMemory()


def test_an_unchanged_page_keeps_its_memory() -> None:
    """A visit without a change leaves the memory equal."""
    page = Page()
    page.visit("words", ("u",))
    before = page.memory
    page.visit("words", ("u",))
    assert page.memory == before


def test_runs_of_a_wrong_length_are_ignored() -> None:
    """Packed runs whose length is not a multiple of the row size are ignored."""
    page = Page()
    page.visit("some words")
    seen = Observation(
        url="https://a.test/", at=9.0, status=200, fingerprint=Fingerprint(raw="x", size=1, text="y"), lines=b"odd"
    )
    assert judge(page.fingerprint, False, seen, memory=page.memory).counts


REDIRECTS = [
    # from, to, counts
    ("", "", False),
    ("", "https://www.a.test/page/", False),
    ("", "http://a.test/page?session=9", False),
    ("", "https://b.test/elsewhere", True),
    ("https://b.test/elsewhere", "", True),
    ("https://b.test/s/8f3c9a7d6e5b4a3f2c1d/x", "https://b.test/s/0a1b2c3d4e5f60718293/x", False),
]


@pytest.mark.parametrize(("then", "now", "counts"), REDIRECTS)
def test_redirects(then: str, now: str, counts: bool) -> None:
    """The same content from another host or path counts as moved; another scheme, slash, query or token does not."""
    page = Page()
    page.visit("words", address=then)
    change = page.visit("words", address=now)
    assert change.counts is counts
    assert (change.kind is ChangeKind.MOVED) is counts
    assert change.outcome is (Outcome.CHANGED if counts else Outcome.SAME)
    assert not page.visit("words", address=now).counts
