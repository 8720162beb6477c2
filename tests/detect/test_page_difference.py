"""What belongs to a page and what to its template, on pages of a small site."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.detect.comparison import RunComparison
from webstrata.detect.page_difference import PageDifference, page_difference
from webstrata.detect.runs import parse_runs
from webstrata.detect.template import SiteTemplate, TemplateOfPage, taught, with_version
from webstrata.observe.text_runs import runs_of

MENU = ["Home", "News", "Contact"]
ASIDE = ["Coming events", "3 May: concert in the park", "9 May: market day"]
FOOTER = ["Imprint", "Updated 2 March 2026", "All rights reserved"]
STORY = "The story of this page is told here."


def version(
    story: str = STORY, menu: list[str] | None = None, aside: list[str] | None = None, footer: list[str] | None = None
) -> bytes:
    header = [*(menu or MENU), *(aside if aside is not None else ASIDE)]
    return runs_of("Title", story, "\n".join(header), "\n".join(footer or FOOTER))


def site() -> SiteTemplate:
    """The page under test and two others, which have the same menu and footer and no list of events."""
    pages = (version(), version("Another story.", aside=[]), version("A third story.", aside=[]))
    return taught(SiteTemplate(), [np.array(parse_runs(page).values, dtype="<u8").tobytes() for page in pages])


def difference(after: bytes, template: SiteTemplate | None, page_id: int = 1) -> PageDifference:
    comparison = RunComparison(parse_runs(version()), parse_runs(after))
    view = TemplateOfPage(template, page_id, is_taught=True) if template is not None else None
    return page_difference(comparison, view)


def test_a_new_entry_in_a_list_outside_the_main_content() -> None:
    """With the template a list that only this page has is its content; a page alone is judged by its structure."""
    after = version(aside=[*ASIDE, "17 May: guided walk"])
    assert difference(after, site()).outside
    assert not difference(after, None).outside


@pytest.mark.parametrize("menu", [[*MENU[:2], "Shop", MENU[2]], MENU[:2], ["Home", "Latest news", "Contact"]])
def test_a_menu_is_an_event_of_the_site(menu: list[str]) -> None:
    """A new, removed or renamed menu entry is no content; the first page shows an event, the next one does not."""
    after = version(menu=menu)
    first = difference(after, site())
    assert (bool(first.main), bool(first.outside), first.has_template, first.is_new_event) == (False, False, True, True)
    shown = with_version(site(), 1, parse_runs(version()), parse_runs(after), at=0.0, is_taught=True)
    second = difference(after, shown, page_id=2)
    assert (bool(second.outside), second.has_template, second.is_new_event) == (False, True, False)


def test_a_date_in_the_footer_is_nothing() -> None:
    """Only a stamp differs: neither content nor an event."""
    found = difference(version(footer=["Imprint", "Updated 5 April 2026", "All rights reserved"]), site())
    assert not found.main
    assert not found.outside
    assert not found.has_template


def test_a_new_sentence_counts_without_a_template() -> None:
    """A banner above the menu is told even if nothing is known of the site."""
    banner = "This page is out of date and is kept for reference only."
    assert difference(version(menu=[banner, *MENU]), None).outside


def test_the_main_content_counts_until_several_pages_showed_the_same() -> None:
    """A footer that the structure takes for main content is told on three pages, then it is the template's."""
    after = version(story=f"{STORY}\nWe use cookies.")
    template = site()
    told = []
    for page_id in range(1, 7):
        told.append(bool(difference(after, template, page_id).main))
        template = with_version(
            template, page_id, parse_runs(version()), parse_runs(after), at=float(page_id), is_taught=True
        )
    assert told == [True, True, False, False, False, False]


def test_edits_of_the_story_always_count() -> None:
    """What other pages do not show is content, whatever is known of the site."""
    assert difference(version(story="The story ends differently."), site()).main
