"""How pages are found from one another: a forest of first discoveries, roots are the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from webstrata.errors import UsageError


@dataclass(frozen=True)
class LinkTree:
    children: tuple[tuple[int, ...], ...]
    """Pages first found on each page."""
    seeds: tuple[int, ...]

    def must_hold(self, count: int) -> None:
        if len(self.children) != count:
            raise UsageError(f"the tree has {len(self.children)} pages, the site {count}: they must be the same pages.")

    def depths(self) -> list[int]:
        """Links from a seed to each page."""
        depth = [0] * len(self.children)
        waiting = list(self.seeds)
        while waiting:
            page = waiting.pop()
            for child in self.children[page]:
                depth[child] = depth[page] + 1
                waiting.append(child)
        return depth


def link_tree(links: Mapping[int, Iterable[int]], count: int, seeds: Iterable[int] = ()) -> LinkTree:
    """The tree of these links; pages that nobody links are seeds.

    Refuses pages outside 0..count-1, a page found on two others, and a ring that no seed leads to.
    """
    found_on: dict[int, int] = {}
    children: list[tuple[int, ...]] = [()] * count
    for parent, linked in links.items():
        children[_known(parent, count)] = tuple(_known(child, count) for child in linked)
        for child in children[parent]:
            if child in found_on:
                raise UsageError(f"page {child} is found on page {found_on[child]} and on page {parent}: name one.")
            found_on[child] = parent
    roots = tuple(dict.fromkeys(_known(seed, count) for seed in seeds))
    for seed in roots:
        if seed in found_on:
            raise UsageError(f"page {seed} is a seed and found on page {found_on[seed]}: it can only be one.")
    tree = LinkTree(tuple(children), roots or tuple(page for page in range(count) if page not in found_on))
    _must_reach_all(tree)
    return tree


def read_tree(text: str, count: int) -> LinkTree:
    """A tree as written on a command line: `0->1,2;1->3,4`; empty: all pages are seeds."""
    links: dict[int, list[int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        parent, arrow, linked = part.partition("->")
        try:
            if not arrow:
                raise ValueError
            links.setdefault(int(parent), []).extend(int(child) for child in linked.split(","))
        except ValueError as problem:
            raise UsageError(f"cannot read {part!r}: write links as 0->1,2;1->3,4.") from problem
    return link_tree(links, count)


def paper_tree(count: int = 1000) -> LinkTree:
    """The tree of the paper's section 6: 20 pages on the first, 10 on each of the next 98."""
    links = {0: range(1, min(21, count))}
    links |= {page: range(10 * page + 11, min(10 * page + 21, count)) for page in range(1, min(99, count))}
    return link_tree({parent: list(linked) for parent, linked in links.items() if len(linked)}, count)


def _known(page: int, count: int) -> int:
    if not 0 <= page < count:
        raise UsageError(f"page {page} is not one of the {count} pages: they are numbered from 0.")
    return page


def _must_reach_all(tree: LinkTree) -> None:
    reached = set(tree.seeds)
    waiting = list(tree.seeds)
    while waiting:
        for child in tree.children[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    lost = sorted(set(range(len(tree.children))) - reached)
    if lost:
        raise UsageError(f"page {lost[0]} is never found: its links go round in a ring that no seed leads to.")
