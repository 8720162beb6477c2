"""Sites and depths, as in the paper on archived history."""

from __future__ import annotations

import pytest

from webstrata.site_levels import depth_of, site_of
from webstrata.urls import canonical


@pytest.mark.parametrize(
    ("url", "site", "depth"),
    [
        ("http://foo.edu/", "foo.edu", 0),
        ("https://www.foo.edu/", "foo.edu", 0),
        ("http://foo.edu:8080/", "foo.edu:8080", 0),
        ("http://foo.edu/index.html", "foo.edu", 0),
        ("http://foo.edu/Default.aspx", "foo.edu", 0),
        ("http://foo.edu/?page=2", "foo.edu", 1),
        ("http://foo.edu/a", "foo.edu", 1),
        ("http://foo.edu/a/", "foo.edu", 1),
        ("http://foo.edu/a/index.php?x=1", "foo.edu", 1),
        ("http://foo.edu/a//b.html", "foo.edu", 2),
        ("http://foo.edu/~bar", "foo.edu/~bar", 0),
        ("http://foo.edu/~bar/", "foo.edu/~bar", 0),
        ("http://foo.edu/%7Ebar/index.html", "foo.edu/~bar", 0),
        ("http://foo.edu/~bar/baz", "foo.edu/~bar", 1),
        ("http://foo.edu/~bar/baz/qux/quux", "foo.edu/~bar", 3),
        ("http://foo.edu/~", "foo.edu", 1),
        ("http://foo.edu/dept/~bar/baz", "foo.edu", 3),
        ("http://[::1]/a", "[::1]", 1),
    ],
)
def test_site_and_depth(url: str, site: str, depth: int) -> None:
    """A personal homepage is a site; the homepage is at depth 0; each folder or file below it adds one level."""
    assert (site_of(canonical(url)), depth_of(canonical(url))) == (site, depth)


def test_depth_below_a_page() -> None:
    """With a start page, levels count from there; a page above it is at depth 0."""
    start = "http://foo.edu/dept/cs/"
    assert depth_of("http://foo.edu/dept/cs/people/bar", start) == 2
    assert depth_of("http://foo.edu/dept/cs/index.html", start) == 0
    assert depth_of("http://foo.edu/dept/", start) == 0
