"""A verdict and the difference that is shown agree: an empty difference is never a change."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.flows.page_histories import URL, Content, histories, rules, version
from webstrata.detect.diff.difference import Difference
from webstrata.detect.diff.html import HtmlDifference
from webstrata.detect.diff.lines import merged_lines, signed_lines
from webstrata.detect.verdict import judge_alone
from webstrata.flows.version_content import version_difference
from webstrata.observe.page import ObservedContent, observation_of, observe
from webstrata.records import Change, ChangeKind, PageRules

AGREEING = {
    ChangeKind.CONTENT,
    ChangeKind.LINKS,
    ChangeKind.DATA,
    ChangeKind.METADATA,
    ChangeKind.PRODUCT,
    ChangeKind.TEMPLATE,
    ChangeKind.MARKUP,
}
"""Kinds of changes that a difference shows."""


def observed(content: Content, page_rules: PageRules | None) -> ObservedContent:
    return observe(content.body, content.kind, URL, page_rules)


def verdict(before: Content, after: Content, page_rules: PageRules | None) -> Change:
    old, new = (observation_of(observed(one, page_rules), URL, at) for at, one in enumerate((before, after)))
    return judge_alone(old, new, page_rules)


def shown(before: Content, after: Content, page_rules: PageRules | None) -> Difference:
    versions = (version(before, 0.0), version(after, 1.0))
    return version_difference(*versions, page_rules, raw=False, before_name="before", after_name="after")


def check_is_shown(found: Difference, why: object) -> None:
    """The difference has something to show in every format."""
    assert not found.empty, why
    assert any(True for _ in signed_lines(found)), why
    assert any(True for _ in merged_lines(found)), why
    assert any(True for _ in HtmlDifference(found).sections()), why


@settings(max_examples=400)
@given(histories(2), st.none() | rules())
def test_an_empty_difference_is_never_a_change(pair: list[Content], page_rules: PageRules | None) -> None:
    """Whatever the rules: if two versions count as changed, their difference shows something, in every format."""
    change = verdict(pair[0], pair[1], page_rules)
    if change.counts and change.kind in AGREEING:
        check_is_shown(shown(pair[0], pair[1], page_rules), (change, page_rules))


EXACT = ("selected", "data", "links", "raw")
"""Layers of which every difference counts; in the main content and in text, stamps such as `last updated` do not."""


@settings(max_examples=400)
@given(histories(2), st.none() | rules())
def test_a_difference_of_the_deciding_layer_is_a_change(pair: list[Content], page_rules: PageRules | None) -> None:
    """If the selected text, the data, the set of links or the bytes decide and differ, it is a change that counts.

    So it is with any layer that the rules choose. Only a minimum size may say otherwise.
    """
    change = verdict(pair[0], pair[1], page_rules)
    is_exact = change.layer in EXACT or (page_rules is not None and page_rules.layer == change.layer)
    if is_exact and change.layers[change.layer] and not (page_rules is not None and page_rules.min_size):
        assert change.counts, (change, page_rules)


def html(head: str, body: str) -> Content:
    return Content("text/html", f"<title>t</title>{head}<main>{body}</main>".encode())


HIDDEN: dict[str, tuple[Content, Content, PageRules | None, str]] = {
    "order of rows": (
        Content("text/csv", b"id,name\n1,x\n2,y"),
        Content("text/csv", b"id,name\n2,y\n1,x"),
        PageRules(ordered=True),
        "+1,x",
    ),
    "order of equal rows": (
        Content("text/csv", b"a,b\n1,x\n1,y\n1,x"),
        Content("text/csv", b"a,b\n1,y\n1,x\n1,x"),
        None,
        "+1,x",
    ),
    "a row of empty cells": (
        Content("text/csv", b"id,name"),
        Content("text/csv", b"id,name\n,"),
        None,
        "+ | ",
    ),
    "bytes": (
        html("", "<p>a<!-- b -->"),
        html("", "<p>a"),
        PageRules(layer="raw"),
        "-<title>t</title><main><p>a<!-- b --></main>",
    ),
    "a page without text": (
        Content("text/html", b"<img src=a>"),
        Content("text/html", b"<img src=b>"),
        None,
        "+<img src=b>",
    ),
    "a contact": (
        html("", "<p><a href=mailto:a@a.test>write</a>"),
        html("", "<p><a href=mailto:b@a.test>write</a>"),
        PageRules(layer="links"),
        "+mailto:b@a.test",
    ),
    "an attribute beside selected text": (
        html("<meta name=description content=a>", "<p>a"),
        html("<meta name=description content=b>", "<p>a"),
        PageRules(include=("css:p",), attributes=("description",)),
        " description: a → b",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_differences_that_only_the_source_or_a_rule_shows(name: str) -> None:
    """What counts is shown: the source if no form shows the difference, and attributes that rules count."""
    before, after, page_rules, line = HIDDEN[name]
    assert verdict(before, after, page_rules).counts
    found = shown(before, after, page_rules)
    check_is_shown(found, name)
    assert line in [line.sign + line.text for line in signed_lines(found)]


def test_another_order_that_does_not_count_is_not_shown() -> None:
    """Rows of a table whose order does not count have no difference, although the lines of the source differ."""
    before, after = (Content("text/csv", body) for body in (b"id,name\n1,x\n2,y", b"id,name\n2,y\n1,x"))
    rules_without_order = PageRules(unordered=True)
    assert not verdict(before, after, rules_without_order).counts
    assert shown(before, after, rules_without_order).empty


@settings(max_examples=400)
@given(histories(2), st.none() | rules())
def test_equal_versions_have_no_difference(pair: list[Content], page_rules: PageRules | None) -> None:
    """The same bytes are never a change, and have no difference."""
    assert not verdict(pair[0], pair[0], page_rules).counts
    assert shown(pair[0], pair[0], page_rules).empty
