from __future__ import annotations

import pytest

from webstrata.detect.memory import PageMemory, remember
from webstrata.detect.verdict import judge
from webstrata.observe.text_runs import runs_of
from webstrata.records import UNPARSED, Change, ChangeKind, Fingerprint, Observation, Outcome, PageRules


def fingerprint(raw: str, text: str | None = None, links: str | None = None) -> Fingerprint:
    return Fingerprint(raw=raw, size=1, text=text, links=links)


A = fingerprint("a", "words", "links")
A_MARKUP = fingerprint("b", "words", "links")
A_LINKS = fingerprint("c", "words", "other links")
B = fingerprint("d", "other words", "links")
UNPARSED_A, UNPARSED_B = (Fingerprint(raw=raw, size=1, data_kind=UNPARSED) for raw in ("a", "d"))
"""The bytes of A, and those of B."""
DATA, DATA_2 = fingerprint("e"), fingerprint("f")

CASES = [
    # before, was gone, now, outcome, (raw, text, links), counts, layer
    (None, False, A, Outcome.NEW, (False, False, False), False, "text"),
    (None, False, DATA, Outcome.NEW, (False, False, False), False, "raw"),
    (None, False, None, Outcome.GONE, (False, False, False), False, "status"),
    (A, False, A, Outcome.SAME, (False, False, False), False, "text"),
    (A, False, A_MARKUP, Outcome.SAME, (True, False, False), False, "text"),
    (A, False, A_LINKS, Outcome.SAME, (True, False, True), False, "text"),
    (A, False, B, Outcome.CHANGED, (True, True, False), True, "text"),
    (DATA, False, DATA, Outcome.SAME, (False, False, False), False, "raw"),
    (DATA, False, DATA_2, Outcome.CHANGED, (True, False, False), True, "raw"),
    (A, False, DATA, Outcome.CHANGED, (True, False, False), True, "raw"),
    (DATA, False, A, Outcome.CHANGED, (True, False, False), True, "raw"),
    (A, False, UNPARSED_A, Outcome.SAME, (False, False, False), False, "raw"),
    (A, False, UNPARSED_B, Outcome.SAME, (True, False, False), False, "raw"),
    (UNPARSED_B, False, A, Outcome.SAME, (True, False, False), False, "text"),
    (UNPARSED_A, False, UNPARSED_B, Outcome.CHANGED, (True, False, False), True, "raw"),
    (A, False, None, Outcome.GONE, (False, False, False), True, "status"),
    (A, True, None, Outcome.SAME, (False, False, False), False, "status"),
    (None, True, None, Outcome.SAME, (False, False, False), False, "status"),
    (A, True, A, Outcome.BACK, (False, False, False), True, "status"),
    (A, True, B, Outcome.BACK, (True, True, False), True, "status"),
    (None, True, A, Outcome.BACK, (False, False, False), True, "status"),
]


@pytest.mark.parametrize(("before", "was_gone", "now", "outcome", "layers", "counts", "layer"), CASES)
def test_verdicts(
    before: Fingerprint | None,
    was_gone: bool,
    now: Fingerprint | None,
    outcome: Outcome,
    layers: tuple[bool, bool, bool],
    counts: bool,
    layer: str,
) -> None:
    """Each row of the table of verdicts holds."""
    seen = Observation(url="https://a.test/", at=0.0, status=200 if now else 404, fingerprint=now)
    change = judge(before, was_gone, seen)
    assert change.outcome is outcome
    assert (change.raw, change.text, change.links) == layers
    assert change.counts is counts
    assert change.layer == layer


def test_the_body_of_a_404_is_not_content() -> None:
    """A page that responds with 404 and a body is gone."""
    seen = Observation(url="https://a.test/", at=0.0, status=404, fingerprint=B)
    assert judge(A, False, seen).outcome is Outcome.GONE
    assert judge(A, True, seen).outcome is Outcome.SAME


URL = "https://a.test/"


def html(**layers: object) -> Fingerprint:
    base: dict[str, object] = {
        "raw": "r0",
        "size": 100,
        "title": "T",
        "text": "t0",
        "links": "l0",
        "parts": ("ti", "he", "bo", "si", "fo", "ma"),
        "main_links": "m0",
        "simhash": 0,
    }
    return Fingerprint(**{**base, **layers})  # type: ignore[arg-type]


def change_of(
    before: Fingerprint, now: Fingerprint, page_rules: PageRules | None = None, memory: PageMemory | None = None
) -> Change:
    seen = Observation(url=URL, at=0.0, status=200, fingerprint=now)
    return judge(before, False, seen, page_rules=page_rules, memory=memory)


FOOTER = html(raw="r1", text="t1", parts=("ti", "he", "bo", "si", "fo2", "ma"))
BODY = html(raw="r1", text="t1", parts=("ti", "he", "bo2", "si", "fo", "ma2"))
TITLE = html(raw="r1", text="t1", parts=("ti2", "he", "bo", "si", "fo", "ma"))
MAIN_LINK = html(raw="r1", links="l1", main_links="m1")
MENU_LINK = html(raw="r1", links="l1")
RULES = PageRules(include=("css:p",))

LAYERS = [
    # now, page rules, counts, kind, layer
    (FOOTER, None, False, ChangeKind.MARKUP, "main"),
    (BODY, None, True, ChangeKind.CONTENT, "main"),
    (TITLE, None, True, ChangeKind.CONTENT, "main"),
    (MAIN_LINK, None, True, ChangeKind.LINKS, "main"),
    (MENU_LINK, None, False, ChangeKind.MARKUP, "main"),
    (FOOTER, PageRules(layer="text"), True, ChangeKind.CONTENT, "text"),
    (MENU_LINK, PageRules(layer="links"), True, ChangeKind.LINKS, "links"),
    (MENU_LINK, PageRules(layer="text"), False, ChangeKind.MARKUP, "text"),
    (MENU_LINK, PageRules(layer="raw"), True, ChangeKind.CONTENT, "raw"),
    (BODY, PageRules(layer="links"), False, ChangeKind.MARKUP, "links"),
    (BODY, PageRules(layer="data"), True, ChangeKind.CONTENT, "main"),
    (html(raw="r1", version=2), None, True, ChangeKind.CONTENT, "raw"),
]


@pytest.mark.parametrize(("now", "page_rules", "counts", "kind", "layer"), LAYERS)
def test_which_layer_decides(
    now: Fingerprint, page_rules: PageRules | None, counts: bool, kind: ChangeKind, layer: str
) -> None:
    """Main content and its links decide for HTML unless rules say otherwise; other versions are compared by bytes."""
    change = change_of(html(), now, page_rules)
    assert (change.counts, change.kind, change.layer) == (counts, kind, layer)
    assert change.raw


def test_rules_decide_if_both_sides_have_them() -> None:
    """With rules only the selected content counts; if one side was observed without them, everything counts."""
    before = html(selected="s0")
    assert not change_of(before, html(raw="r1", text="t1", parts=("x",) * 6, selected="s0"), RULES).counts
    assert change_of(before, html(raw="r1", selected="s1"), RULES).layer == "selected"
    assert change_of(html(), html(raw="r1", parts=("ti", "he", "bo2", "si", "fo", "ma2"), selected="s1"), RULES).counts


def test_data_decides_about_data() -> None:
    """Canonical data are compared if both sides have them, the bytes if one side could not be parsed."""
    before = Fingerprint(raw="a", size=1, data="d0", data_kind="json")
    same = Fingerprint(raw="b", size=1, data="d0", data_kind="json")
    other = Fingerprint(raw="b", size=1, data="d1", data_kind="json")
    broken = Fingerprint(raw="b", size=1, data_kind="json", data_note="no JSON")
    assert not change_of(before, same).counts
    assert change_of(before, other).kind is ChangeKind.DATA
    assert (change_of(before, broken).counts, change_of(before, broken).layer) == (True, "raw")


def test_a_new_sentence_outside_the_main_part_counts() -> None:
    """A banner in the header counts although the main content is equal; another year in the footer does not."""

    def seen(now: Fingerprint, header: str, footer: str) -> Observation:
        lines = runs_of("T", "The same words.", header, footer)
        return Observation(url=URL, at=0.0, status=200, fingerprint=now, lines=lines)

    first = seen(html(), "Home\nAbout", "Copyright by the society of all its members 2025")
    memory = remember(PageMemory(), None, first, judge(None, False, first))
    year = seen(FOOTER, "Home\nAbout", "Copyright by the society of all its members 2026")
    menu = seen(FOOTER, "Home\nAbout us", "Copyright by the society of all its members 2025")
    banner = seen(
        FOOTER,
        "This page is about the old version, which nobody maintains.\nHome\nAbout",
        "Copyright by the society of all its members 2025",
    )
    assert [judge(html(), False, now, memory=memory).counts for now in (year, menu, banner)] == [False, False, True]


def test_size_and_significance() -> None:
    """A larger difference, a new passage, title or links never lower the significance, which stays within 0 and 1."""
    words = [f"Sentence number {chr(97 + n)} says what it says." for n in range(20)]

    def weight(text: list[str], **layers: object) -> Change:
        first = Observation(url=URL, at=0.0, status=200, fingerprint=html(), lines=runs_of("T", "\n".join(words)))
        memory = remember(PageMemory(), None, first, judge(None, False, first))
        now = html(raw="r1", text="t1", parts=("ti", "he", "bo2", "si", "fo", "ma2"), **layers)
        seen = Observation(url=URL, at=9.0, status=200, fingerprint=now, lines=runs_of("T", "\n".join(text)))
        return judge(html(), False, seen, memory=memory)

    word = weight([*words[:-1], words[-1].replace("says", "said")])
    half = weight([*words[:10], *(line.upper() for line in words[10:])])
    whole = weight([line.upper() for line in words])
    titled = weight([line.upper() for line in words], title="Other")
    assert 0 < word.size < half.size < whole.size <= 1
    assert 0 < word.significance < half.significance < whole.significance <= titled.significance <= 1
    assert word.significance < 0.3
    assert half.significance > 0.5
    assert all(change.reasons for change in (word, half, whole, titled))


def test_minimum_size() -> None:
    """A change smaller than the page's minimum does not count; a change of unknown size does."""
    text = "\n".join(f"Line {chr(97 + n)} of the text" for n in range(25))
    first = Observation(url=URL, at=0.0, status=200, fingerprint=html(), lines=runs_of("T", text))
    memory = remember(PageMemory(), None, first, judge(None, False, first))
    now = Observation(url=URL, at=9.0, status=200, fingerprint=BODY, lines=runs_of("T", text.replace("a of", "A of")))
    assert not judge(html(), False, now, page_rules=PageRules(min_size=0.1), memory=memory).counts
    assert judge(html(), False, now, page_rules=PageRules(min_size=0.005), memory=memory).counts
    assert judge(html(), False, now, page_rules=PageRules(min_size=0.5)).counts


def test_gone_and_back() -> None:
    """Gone and back are separate kinds with the highest significance."""
    gone = judge(A, False, Observation(url=URL, at=0.0, status=410, fingerprint=None))
    back = judge(A, True, Observation(url=URL, at=0.0, status=200, fingerprint=B))
    assert (gone.kind, back.kind) == (ChangeKind.GONE, ChangeKind.BACK)
    assert gone.significance == back.significance == 1.0


def test_links_that_return() -> None:
    """A change of links alone that restores an earlier version has that reason and the significance of one link."""
    one, two = html(raw="r1", main_links="l1"), html(raw="r2", main_links="l2")
    memory, before, changes = PageMemory(), None, []
    for at, now in enumerate((one, two, one, two)):
        lines = runs_of("T", "the same words")
        seen = Observation(url=URL, at=at * 86_400.0, status=200, fingerprint=now, lines=lines, link_hashes=b"8 bytes!")
        changes.append(judge(before, False, seen, memory=memory))
        memory, before = remember(memory, before, seen, changes[-1]), now
    assert [change.kind for change in changes] == [ChangeKind.NEW, *[ChangeKind.LINKS] * 3]
    assert [change.reverted for change in changes] == [False, False, True, True]
    assert changes[2].significance == 0.05
    assert changes[2].reasons[-2:] == ("links were removed or restored", "back to an earlier version")
