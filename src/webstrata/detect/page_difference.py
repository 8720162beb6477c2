"""What differs between two versions of an HTML page, divided into what belongs to the page and what to its template.

| where | without a template | with the template of the site |
|---|---|---|
| title, main content, its links | counts | counts, unless several other pages showed the same before |
| header, footer | a new sentence counts | counts, unless it stands on other pages or between lines that do |
| links outside the main content | do not count | do not count |
| figures and dates of header and footer | do not count | do not count, unless people watch them (prices, stocks) |

`findings.py` uses it if the main content decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from webstrata.columns import Part, RunFlag
from webstrata.detect.comparison import RunComparison, RunDifference
from webstrata.detect.runs import ALL_TEXT_PARTS, MAIN_PARTS, TextRuns
from webstrata.detect.template import TemplateOfPage

OUTSIDE_PARTS = ALL_TEXT_PARTS - MAIN_PARTS
MAIN_LINKS: frozenset[int] = frozenset({Part.MAIN_LINK})
MENU_LINKS: frozenset[int] = frozenset({Part.OTHER_LINK})
ALL_LINKS: frozenset[int] = frozenset({Part.MAIN_LINK, Part.OTHER_LINK})


class PageDifference(NamedTuple):
    """The runs in which two versions differ, without learned noise."""

    main: RunDifference
    """Of the title and the main content, as far as they belong to the page."""
    links: RunDifference
    """Links of the main content, as far as they belong to the page."""
    outside: RunDifference
    """Outside the main content, as far as they belong to the page."""
    has_template: bool = False
    """Runs of the template, or links outside the main content, differ, too."""
    is_new_event: bool = False
    """They differ outside the main content, and no other page has shown this before."""


def page_difference(
    comparison: RunComparison, template: TemplateOfPage | None, *, ignores_title: bool = False
) -> PageDifference:
    """Compare two versions; `template` is that of the site, if at least two pages taught it."""
    main_parts = MAIN_PARTS - {Part.TITLE} if ignores_title else MAIN_PARTS
    main = comparison.difference(main_parts, ALL_TEXT_PARTS)
    links = comparison.difference(MAIN_LINKS, ALL_LINKS)._replace(is_reordered=False)
    outside = comparison.difference(OUTSIDE_PARTS, ALL_TEXT_PARTS)._replace(is_reordered=False)
    menu_links = comparison.difference(MENU_LINKS, ALL_LINKS)
    has_menu_links = bool(menu_links.removed or menu_links.added)
    if template is None:
        return PageDifference(main, links, _new_sentences(comparison, outside), has_template=has_menu_links)
    own_main = _without_events(comparison, main, template)
    own_links = _without_events(comparison, links, template)
    own_outside, template_outside = _divided(comparison, _without_stamps(comparison, outside), template)
    return PageDifference(
        main=own_main,
        links=own_links,
        outside=own_outside,
        has_template=has_menu_links or bool(template_outside) or own_main != main or own_links != links,
        is_new_event=_is_new(comparison, template_outside, template),
    )


def _new_sentences(comparison: RunComparison, outside: RunDifference) -> RunDifference:
    """New sentences: a banner, or content outside the detected main content."""
    new, known = comparison.new, set(comparison.old.shapes)
    sentences = [i for i in outside.added if new.flags[i] & RunFlag.SENTENCE and new.shapes[i] not in known]
    return RunDifference(added=tuple(sentences))


def _without_events(comparison: RunComparison, difference: RunDifference, template: TemplateOfPage) -> RunDifference:
    """The difference without runs that appeared on other pages or vanished from them in the same way."""
    old, new = comparison.old.values, comparison.new.values
    return difference._replace(
        removed=tuple(i for i in difference.removed if not template.is_event_of_main(old[i], is_added=False)),
        added=tuple(i for i in difference.added if not template.is_event_of_main(new[i], is_added=True)),
    )


def _without_stamps(comparison: RunComparison, outside: RunDifference) -> RunDifference:
    """The difference without runs of which only figures, dates or tokens differ and that nobody watches."""
    old, new = comparison.old, comparison.new
    removed = {old.shapes[i] for i in outside.removed}
    added = {new.shapes[i] for i in outside.added}

    def is_stamp(runs: TextRuns, i: int) -> bool:
        return runs.shapes[i] in removed & added and not runs.flags[i] & RunFlag.WATCHED

    return RunDifference(
        removed=tuple(i for i in outside.removed if not is_stamp(old, i)),
        added=tuple(i for i in outside.added if not is_stamp(new, i)),
    )


def _divided(
    comparison: RunComparison, outside: RunDifference, template: TemplateOfPage
) -> tuple[RunDifference, RunDifference]:
    """(Runs of the page, runs of the template)."""
    old, new = comparison.old, comparison.new
    removed = _of_template(old, outside.removed, template, is_added=False)
    added = _of_template(new, outside.added, template, is_added=True)
    return (
        RunDifference(_but(outside.removed, removed), _but(outside.added, added)),
        RunDifference(tuple(sorted(removed)), tuple(sorted(added))),
    )


def _but(indexes: tuple[int, ...], left_out: set[int]) -> tuple[int, ...]:
    return tuple(i for i in indexes if i not in left_out)


def _of_template(runs: TextRuns, differing: tuple[int, ...], template: TemplateOfPage, *, is_added: bool) -> set[int]:
    """The differing runs that belong to the template: they, or the lines around them, stand on other pages."""
    found: set[int] = set()
    for group in _groups(runs, differing):
        is_inside = _stands_between(runs, group[0], group[-1], template)
        found.update(
            index
            for index in group
            if is_inside
            or template.elsewhere(runs.values[index], is_own=not is_added)
            or template.is_known_event(runs.values[index], is_added=is_added)
        )
    return found


def _groups(runs: TextRuns, differing: tuple[int, ...]) -> Iterator[list[int]]:
    """The differing runs in groups of neighbours of one part."""
    group: list[int] = []
    for index in sorted(differing):
        if group and (index != group[-1] + 1 or runs.parts[index] != runs.parts[group[-1]]):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def _stands_between(runs: TextRuns, first: int, last: int, template: TemplateOfPage) -> bool:
    """Whether the lines before and after a group of runs, in the same part, are lines of the template."""
    neighbours = [
        other
        for other in (first - 1, last + 1)
        if 0 <= other < len(runs.parts) and runs.parts[other] == runs.parts[first]
    ]
    return bool(neighbours) and all(template.elsewhere(runs.values[other], is_own=True) for other in neighbours)


def _is_new(comparison: RunComparison, difference: RunDifference, template: TemplateOfPage) -> bool:
    """Whether a run appeared or vanished that other pages have not shown to do so, and that none of them has."""
    old, new = comparison.old.values, comparison.new.values
    return any(not template.is_known_event(old[i], is_added=False) for i in difference.removed) or any(
        not template.is_known_event(new[i], is_added=True) and not template.elsewhere(new[i], is_own=False)
        for i in difference.added
    )
