"""Trees of links: the paper's tree, parsing, and errors."""

from __future__ import annotations

import pytest

from webstrata.errors import UsageError
from webstrata.sharp.link_tree import link_tree, paper_tree, read_tree
from webstrata.sharp.solar import solar_online


def test_the_papers_tree() -> None:
    """20 pages on the first page, 10 on each of the next 98; every page is found once."""
    tree = paper_tree()
    assert [len(tree.children[page]) for page in (0, 1, 98, 99)] == [20, 10, 9, 0]
    assert sorted(tree.breadth_first().tolist()) == list(range(1000))


@pytest.mark.parametrize(
    ("text", "count", "says"),
    [
        ("0->1;1->0", 2, "cycle"),
        ("0->1;2->3;3->2", 4, "cycle"),
        ("0->1;2->1", 3, "found on page 0 and on page 2"),
        ("0->1,1", 2, "found on page 0 and on page 0"),
        ("0->0", 1, "cycle"),
        ("0->7", 3, "page 7 is not one of the 3 pages"),
        ("0-1", 2, "write links as"),
        ("a->b", 2, "write links as"),
    ],
)
def test_bad_trees(text: str, count: int, says: str) -> None:
    """Cycles, pages found twice, unknown pages and text that is not a tree raise an error."""
    with pytest.raises(UsageError, match=says):
        read_tree(text, count)


def test_seeds_and_size() -> None:
    """A page is a seed or found on another page, not both; a tree must have as many pages as the site."""
    with pytest.raises(UsageError, match="seed"):
        link_tree({0: [1]}, 2, seeds=[0, 1])
    with pytest.raises(UsageError, match="same pages"):
        solar_online([1, 2, 3], link_tree({0: [1]}, 2))
