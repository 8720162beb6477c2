"""The tree of links over which pages are first found; its roots are the seeds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from webstrata.errors import UsageError
from webstrata.sharp.rates import Indices


@dataclass(frozen=True)
class LinkTree:
    children: tuple[tuple[int, ...], ...]
    """For each page, the pages that are first found on it."""
    seeds: tuple[int, ...]

    def require_size(self, count: int) -> None:
        if len(self.children) != count:
            raise UsageError(f"the tree has {len(self.children)} pages, the site {count}: they must be the same pages.")

    def breadth_first(self) -> Indices:
        """Pages in the order in which an ordinary crawl visits them."""
        waiting = deque(self.seeds)
        order: list[int] = []
        while waiting:
            page = waiting.popleft()
            order.append(page)
            waiting.extend(self.children[page])
        return np.array(order, dtype=np.intp)


def link_tree(links: Mapping[int, Iterable[int]], count: int, seeds: Iterable[int] = ()) -> LinkTree:
    """The tree of these links. Pages without an incoming link are seeds if no seeds are given.

    Raises UsageError for pages outside 0..count-1, a page found on two others, and a cycle that no seed reaches.
    """
    found_on: dict[int, int] = {}
    children: list[tuple[int, ...]] = [()] * count
    for parent, linked in links.items():
        children[_checked_page(parent, count)] = tuple(_checked_page(child, count) for child in linked)
        for child in children[parent]:
            if child in found_on:
                raise UsageError(f"page {child} is found on page {found_on[child]} and on page {parent}: name one.")
            found_on[child] = parent
    roots = tuple(dict.fromkeys(_checked_page(seed, count) for seed in seeds))
    for seed in roots:
        if seed in found_on:
            raise UsageError(f"page {seed} is a seed and found on page {found_on[seed]}: it can only be one.")
    tree = LinkTree(tuple(children), roots or tuple(page for page in range(count) if page not in found_on))
    unreached = sorted(set(range(count)) - set(tree.breadth_first().tolist()))
    if unreached:
        raise UsageError(f"page {unreached[0]} is never found: its links form a cycle that no seed leads to.")
    return tree


def read_tree(text: str, count: int) -> LinkTree:
    """Parse a tree as written on a command line: `0->1,2;1->3,4`. With an empty text all pages are seeds."""
    links: dict[int, list[int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        parent, arrow, linked = part.partition("->")
        try:
            if not arrow:
                raise ValueError
            links.setdefault(int(parent), []).extend(int(child) for child in linked.split(","))
        except ValueError as problem:
            raise UsageError(f"cannot parse {part!r}: write links as 0->1,2;1->3,4.") from problem
    return link_tree(links, count)


def paper_tree(count: int = 1000) -> LinkTree:
    """The tree of the SOLAR paper's section 6: 20 pages on the first page, 10 on each of the next 98."""
    links = {0: range(1, min(21, count))}
    links |= {page: range(10 * page + 11, min(10 * page + 21, count)) for page in range(1, min(99, count))}
    return link_tree({parent: list(linked) for parent, linked in links.items() if len(linked)}, count)


def _checked_page(page: int, count: int) -> int:
    if not 0 <= page < count:
        raise UsageError(f"page {page} is not one of the {count} pages: they are numbered from 0.")
    return page
