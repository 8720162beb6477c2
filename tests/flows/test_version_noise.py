"""Learned noise in differences: what counted at a visit is shown, and what did not count is set apart."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.flows.page_histories import URL, Content, version
from webstrata.detect.diff.lines import changed_line_count
from webstrata.detect.layers import deciding_layer
from webstrata.detect.memory import PageMemory, memory_of_first_version, remember
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.verdict import judge
from webstrata.flows.version_content import version_difference
from webstrata.observe.page import observation_of, observe
from webstrata.records import Change, ChangeKind, PageRules

STORY = [f"Paragraph {word} of the story says what happened, and nobody edits it." for word in ("one", "two", "three")]
ADS = ("Soap for clean hands", "A car that flies", "Ink in three colours", "Tea from the hills")
_words = st.sampled_from(["moon", "river", "letter", "garden", "winter"])


def page(number: int, ad: int, order: list[int], extra: list[str], token: int) -> Content:
    """A page with a counter, a clock, an advertisement, a shuffled list, and text that somebody edits."""
    items = "".join(f"<li>Item {'abcdefg'[n]} of the list</li>" for n in order)
    body = (
        f"<title>Story</title><main><p>You are visitor number {number}.</p><p>Now it is 12:{number % 60:02d}:00.</p>"
        f"<p>{STORY[0]}</p><div>{ADS[ad]}</div><p>{STORY[1]}</p><ul>{items}</ul><p>{STORY[2]}</p>"
        f"<p><a href=/ad/{token:016x}>More</a></p>{''.join(f'<p>{text}</p>' for text in extra)}</main>"
    )
    return Content("text/html", body.encode())


class JudgedPage:
    """A page that is judged and remembered visit by visit, as in the crawl loop."""

    def __init__(self, page_rules: PageRules | None) -> None:
        self._rules = page_rules
        self._memory = PageMemory()
        self._last: Content | None = None

    def visit(self, content: Content, at: float) -> Change | None:
        """The verdict on a visit; none for the first one."""
        before = None if self._last is None else observe(self._last.body, self._last.kind, URL, self._rules).fingerprint
        observed = observe(content.body, content.kind, URL, self._rules)
        seen = observation_of(observed, URL, at, self._memory.runs)
        self._last = content
        if before is None:
            self._memory = memory_of_first_version(seen, deciding_layer(observed.fingerprint, self._rules))
            return None
        change = judge(before, False, seen, page_rules=self._rules, memory=self._memory)
        self._memory = remember(self._memory, before, seen, change)
        return change

    @property
    def noise(self) -> tuple[NoisyPlace, ...]:
        return tuple(place for place in self._memory.noise if place.state == "learned")


class _Visit(NamedTuple):
    """What a visit finds."""

    ad: int
    order: tuple[int, ...]
    token: int
    edit: str
    """A line that somebody adds; empty at most visits."""


_edits = st.just("") | st.builds(lambda one, other: f"The {one} and the {other}", _words, _words)
_visits = st.builds(_Visit, st.integers(0, 3), st.permutations(range(6)).map(tuple), st.integers(0, 1 << 60), _edits)


@settings(max_examples=40)
@given(
    visits=st.lists(_visits, min_size=10, max_size=10),
    page_rules=st.sampled_from([None, PageRules(layer="text"), PageRules(ignore=("css:ul",))]),
)
def test_what_counted_is_shown(visits: list[_Visit], page_rules: PageRules | None) -> None:
    """With the noise that was known at a visit, its difference is empty only if nothing counted.

    If only learned noise differs, it is set apart.
    """
    judged, last = JudgedPage(page_rules), None
    extra: list[str] = []
    for number, visit in enumerate(visits, 1):
        extra = [*extra[-2:], visit.edit] if visit.edit else extra
        content = page(number, visit.ad, list(visit.order), extra, visit.token)
        known = judged.noise
        change = judged.visit(content, at=600.0 * number)
        if change is not None and last is not None:
            found = version_difference(
                version(last, 600.0 * (number - 1)),
                version(content, 600.0 * number),
                page_rules,
                raw=False,
                before_name="before",
                after_name="after",
                noise=known,
            )
            if change.counts:
                assert changed_line_count(found) > 0, (change, known)
            elif change.kind is ChangeKind.MARKUP and change.noise:
                assert found.noise is not None, change
        last = content
    assert judged.noise, "the counter and the clock are learned"


def test_a_line_with_noise_and_other_text_is_shown() -> None:
    """The cells of a row stand in one line: if one of them is noise and another one counts, the line is shown."""

    def table(number: int, name: str) -> Content:
        rest = "".join(f"<p>{text}</p>" for text in STORY)
        rows = f"<tr><td>{name}</td><td>{number} views</td></tr><tr><td>Chair</td><td>in the garden</td></tr>"
        return Content("text/html", f"<title>t</title><main>{rest}<table>{rows}</table></main>".encode())

    judged = JudgedPage(None)
    for number in range(1, 6):
        judged.visit(table(number, "Lamp"), at=600.0 * number)
    assert judged.noise

    def shown(after: Content) -> tuple[int, int]:
        found = version_difference(
            version(table(5, "Lamp")),
            version(after, 600.0),
            None,
            raw=False,
            before_name="before",
            after_name="after",
            noise=judged.noise,
        )
        return changed_line_count(found), 0 if found.noise is None else changed_line_count(found.noise)

    assert shown(table(6, "Lamp")) == (0, 2)
    assert shown(table(6, "Mirror")) == (2, 0)


def test_an_item_that_a_shuffled_list_lacks_is_shown() -> None:
    """In a list whose order is noise, moved items are hidden; an item that vanished or is new is shown."""
    judged = JudgedPage(None)
    orders = [[0, 1, 2, 3, 4, 5], [3, 1, 5, 0, 4, 2], [5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 5, 3]] * 3
    for number, order in enumerate(orders):
        last = page(1, 0, order, [], 1)
        judged.visit(last, at=600.0 * number)
    assert [place.kind for place in judged.noise] == ["order"]
    after = page(1, 0, [0, 6, 3, 1, 5, 4], [], 1)
    found = version_difference(
        version(last), version(after, 600.0), None, raw=False, before_name="", after_name="", noise=judged.noise
    )
    changed = {line.sign + line.text for line in found.text if line.sign in "+-"}
    assert changed == {"-Item c of the list", "+Item g of the list"}
    assert found.noise is not None
