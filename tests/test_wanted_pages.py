"""The choice of pages that an import keeps."""

from __future__ import annotations

import pytest

from webstrata.errors import UsageError
from webstrata.wanted_pages import wanted_pages


@pytest.mark.parametrize(
    ("patterns", "depth", "url", "reason"),
    [
        ([], None, "http://foo.edu/a/b", None),
        ([], 1, "http://foo.edu/a/b", "too-deep"),
        ([], 2, "http://foo.edu/~bar/baz/qux", None),
        (["https://foo.edu/a"], None, "https://foo.edu/a", None),
        (["https://foo.edu/a"], None, "https://foo.edu/ab", "outside"),
        (["https://FOO.edu:443/a#x"], None, "https://foo.edu/a", None),
        (["https://foo.edu/a/*"], None, "http://foo.edu/a/b", None),
        (["https://foo.edu/a/*"], None, "http://foo.edu/a", None),
        (["https://foo.edu/a/*"], None, "http://foo.edu/ab", "outside"),
        (["https://foo.edu/a*"], None, "http://foo.edu/ab", None),
        (["foo.edu/*"], None, "http://foo.edu/", None),
        (["foo.edu/*"], None, "http://foo.edu.evil/", "outside"),
        (["foo.edu/*"], None, "http://www.foo.edu/", "outside"),
        (["*.foo.edu"], None, "http://foo.edu/", None),
        (["*.foo.edu/*"], None, "http://a.b.foo.edu/x", None),
        (["*.foo.edu"], None, "http://afoo.edu/", "outside"),
        (["foo.edu/*", "https://bar.edu/"], None, "https://bar.edu/", None),
        (["foo.edu/*"], 1, "http://foo.edu/a/b", "too-deep"),
        (["http://foo.edu/a/*"], 1, "http://foo.edu/a/b", None),
        (["http://foo.edu/a/*"], 1, "http://foo.edu/a/b/c", "too-deep"),
        (["http://foo.edu/~bar/*"], 1, "http://foo.edu/~bar/b", None),
    ],
)
def test_reasons(patterns: list[str], depth: int | None, url: str, reason: str | None) -> None:
    """Patterns choose pages, hosts and folders; the depth counts from the folder that a pattern names."""
    assert wanted_pages(patterns, max_depth=depth).left_out(url) == reason


@pytest.mark.parametrize("pattern", ["", "foo.edu", "ftp://foo.edu/*", "https://foo.edu/*/x", "*", "*.", "http://[/*"])
def test_other_patterns_are_refused(pattern: str) -> None:
    """A pattern of another form is an error of use that shows the forms."""
    with pytest.raises(UsageError, match="names no pages"):
        wanted_pages([pattern])


def test_choices_have_different_keys() -> None:
    """An import of other pages of the same source is another import."""
    choices = [
        wanted_pages(),
        wanted_pages(["foo.edu/*"]),
        wanted_pages(["*.foo.edu"]),
        wanted_pages(["http://foo.edu/"]),
        wanted_pages(max_depth=1),
        wanted_pages(watched=True),
        wanted_pages([f"http://foo.edu/{n}" for n in range(100)]),
        wanted_pages([f"http://foo.edu/{n}" for n in range(101)]),
    ]
    assert len({choice.key for choice in choices}) == len(choices)
    assert all(len(choice.key) <= 200 for choice in choices)
