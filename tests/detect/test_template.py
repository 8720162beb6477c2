"""The template of a site: what stands on several pages, and events that several pages show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.memory import PageMemory
from webstrata.detect.runs import TextRuns, parse_runs
from webstrata.detect.template import (
    MAX_PAGES,
    SiteTemplate,
    TemplateOfPage,
    after_visit,
    pack_template,
    taught,
    unpack_template,
    with_version,
)
from webstrata.observe.sketch import hash64
from webstrata.observe.text_runs import runs_of

DAY = 86_400.0


def page(*lines: str, header: tuple[str, ...] = ("Home", "News"), footer: tuple[str, ...] = ("Imprint",)) -> bytes:
    return runs_of("Title", "\n".join(lines), "\n".join(header), "\n".join(footer))


def parsed(*lines: str, **parts: tuple[str, ...]) -> TextRuns:
    return parse_runs(page(*lines, **parts))


def values(*lines: str) -> bytes:
    """The hashes of a page's lines, as `observe` computes them for its first version."""
    return np.array(parsed(*lines).values, dtype="<u8").tobytes()


def known(*lines: str, is_taught: bool = True) -> PageMemory:
    return PageMemory(runs=page(*lines), taught=is_taught)


def test_what_stands_on_two_pages_is_the_template() -> None:
    """Lines of one page only are not part of it; a page's own line is not that of another page."""
    template = taught(SiteTemplate(), [values("story one"), values("story two")])
    assert template.is_usable
    view = TemplateOfPage(template, 1, is_taught=True)
    assert view.elsewhere(hash64("Home"), is_own=True)
    assert not view.elsewhere(hash64("story one"), is_own=True)
    assert view.elsewhere(hash64("story two"), is_own=False)
    assert not view.elsewhere(hash64("never seen"), is_own=False)


def test_one_page_is_not_a_template() -> None:
    """A page alone says nothing about what repeats."""
    assert not taught(SiteTemplate(), [values("story")]).is_usable


def changed(template: SiteTemplate, page_id: int, old: TextRuns, new: TextRuns, at: float = DAY) -> SiteTemplate:
    return with_version(template, page_id, old, new, at=at, is_taught=True)


def test_an_event_is_known_after_another_page_showed_it() -> None:
    """The first page to show a new menu entry shows something new, the second does not."""
    template = taught(SiteTemplate(), [values("one"), values("two")])
    value = hash64("Shop")
    new = parsed("one", header=("Home", "News", "Shop"))
    template = changed(template, 1, parsed("one"), new)
    assert not TemplateOfPage(template, 1, is_taught=True).is_known_event(value, is_added=True)
    assert TemplateOfPage(template, 2, is_taught=True).is_known_event(value, is_added=True)
    assert not TemplateOfPage(template, 2, is_taught=True).is_known_event(value, is_added=False)
    assert not TemplateOfPage(template, 2, is_taught=True).is_event_of_main(value, is_added=True), "one page is too few"


@pytest.mark.parametrize("seller", [known("Add to cart", "two"), PageMemory(at=0.5 * DAY, taught=True)])
def test_pages_that_do_not_show_an_event_speak_against_it(seller: PageMemory) -> None:
    """A product that is sold out is no event of the site: other pages, visited later, can still be bought."""
    template = taught(SiteTemplate(), [values("Add to cart", "one"), values("Add to cart", "two")])
    template = changed(template, 1, parsed("Add to cart", "one"), parsed("Sold out", "one"))
    template = after_visit(template, 2, seller, b"", 2 * DAY)
    view = TemplateOfPage(template, 2, is_taught=True)
    assert not view.is_known_event(hash64("Add to cart"), is_added=False)
    assert not view.is_known_event(hash64("Sold out"), is_added=True)


def test_an_event_ends() -> None:
    """After a month the same change is a new event."""
    template = taught(SiteTemplate(), [values("one"), values("two")])
    template = changed(template, 1, parsed("one"), parsed("one", header=("Home", "Shop")))
    template = changed(template, 3, parsed("three"), parsed("three", "more"), at=40 * DAY)
    assert not TemplateOfPage(template, 2, is_taught=True).is_known_event(hash64("Shop"), is_added=True)


def test_a_page_teaches_once() -> None:
    """Later versions of a page that taught the template replace its earlier lines."""
    template = taught(SiteTemplate(), [values("old line")])
    template = after_visit(template, 1, known("old line"), page("new line"), DAY)
    view = TemplateOfPage(template, 2, is_taught=False)
    assert template.pages == 1
    assert view.elsewhere(hash64("new line"), is_own=False)
    assert not view.elsewhere(hash64("old line"), is_own=False)


def test_a_new_page_does_not_speak_against_earlier_events() -> None:
    """A page whose first version was seen after an event may show it."""
    template = taught(SiteTemplate(), [values("one"), values("two")])
    template = changed(template, 1, parsed("one"), parsed("one", header=("Home", "News", "Shop")))
    template = after_visit(template, 3, PageMemory(at=3 * DAY, taught=True), b"", 4 * DAY)
    assert TemplateOfPage(template, 2, is_taught=True).is_known_event(hash64("Shop"), is_added=True)


def test_size_is_bounded() -> None:
    """Many pages with many lines give a template of bounded size that still knows what repeats."""
    template = SiteTemplate()
    while template.pages < MAX_PAGES:
        template = taught(template, [values(*(f"line {template.pages} {m}" for m in range(900)))])
    for n in range(300):
        template = changed(template, n, parsed(f"a{n}"), parsed(f"b{n}", f"c{n}"), at=100.0 + n)
    assert template.pages == MAX_PAGES
    assert len(pack_template(template)) < 64_000
    assert TemplateOfPage(template, -1, is_taught=False).elsewhere(hash64("Imprint"), is_own=False)


def test_packed_templates_return() -> None:
    """A template is stored and read back; what cannot be decoded is no template."""
    template = changed(taught(SiteTemplate(), [values("one")]), 1, parsed("one"), parsed("two"))
    assert unpack_template(pack_template(template)) == template
    assert unpack_template(b"") == SiteTemplate()


@given(st.binary(max_size=80))
def test_damaged_templates_are_empty(data: bytes) -> None:
    """No stored bytes make the crawl fail."""
    assert isinstance(unpack_template(b"\x01" + data), SiteTemplate)
