"""Decision trees as plain arrays, applied to many pages at once with NumPy only.

A tree with at most eight leaves is not walked. Each leaf has a bit, from left to right. Where a page goes to the right,
all leaves on the left are out; when all nodes are asked, the page's leaf is the first that remains. Each node is then
one comparison of a whole column, which is about twenty times as fast as walking for a model of many small trees.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

LEAF = -1
"""Instead of the number of a feature: the node is a leaf."""


_MOST_LEAVES = 8
_CHUNK = 16_384


class _Test(NamedTuple):
    """A node of a small tree."""

    feature: int
    threshold: np.float32
    missing_left: bool
    left_leaves: int
    """The bits of the leaves on the left."""


class _SmallTree(NamedTuple):
    tests: list[_Test]
    values: dict[int, NDArray[np.float64]]
    """For each group with values other than 0: the value of the leaf, by the bits of the leaves that are out."""

    def add_to(self, total: NDArray[np.float64], columns: NDArray[np.float32]) -> None:
        out = np.zeros(len(total), dtype=np.uint8)
        for test in self.tests:
            column = columns[test.feature]
            right = column > test.threshold if test.missing_left else ~(column <= test.threshold)
            out |= right.view(np.uint8) * np.uint8(test.left_leaves)
        for group, values in self.values.items():
            total[:, group] += values[out]


class Trees(Struct, frozen=True, kw_only=True, dict=True):
    """One or several trees. All nodes are in the same arrays; both branches of a node come after it."""

    roots: NDArray[np.int32]
    """The first node of each tree."""
    feature: NDArray[np.int32]
    """For each node the number of the feature that it asks for, or `LEAF`."""
    threshold: NDArray[np.float64]
    """A page goes to the left if its feature is not above."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    """Where a page goes whose feature is not known."""
    value: NDArray[np.float64]
    """For each node one number for each group. Of inner nodes they are only shown."""

    def total(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the values of the leaves that each row reaches in all trees."""
        rows = single_precision(features)
        total = np.zeros((len(rows), self.value.shape[1]))
        small = [one for one in self._small_trees if one is not None]
        for start in range(0, len(rows) if small else 0, _CHUNK):
            part = slice(start, start + _CHUNK)
            columns = np.ascontiguousarray(rows[part].T)
            for one in small:
                one.add_to(total[part], columns)
        for root, tree in zip(self.roots.tolist(), self._small_trees, strict=True):
            if tree is None:
                total += self.value[self._leaves(rows, root)]
        return total

    def path(self, features: NDArray[np.float64], tree: int = 0) -> list[int]:
        """The nodes that one row passes in one tree, from the root to the leaf."""
        row = single_precision(features)
        passed = [int(self.roots[tree])]
        while self.feature[passed[-1]] != LEAF:
            node = passed[-1]
            passed.append(int(self.left[node] if self.goes_left(row, node) else self.right[node]))
        return passed

    def goes_left(self, row: NDArray[np.float32], node: int) -> bool:
        """Whether one row goes to the left at a node."""
        value = row[self.feature[node]]
        return bool(self.missing_left[node] if np.isnan(value) else value <= self.threshold[node])

    @cached_property
    def _small_trees(self) -> list[_SmallTree | None]:
        """By tree; None if it has too many leaves. Making them takes far longer than applying them to a few pages."""
        return [self._small_tree(root) for root in self.roots.tolist()]

    def _small_tree(self, root: int) -> _SmallTree | None:
        """The tree with bits for its leaves; None if it has too many."""
        leaves: list[int] = []
        tests: list[_Test] = []

        def visit(node: int) -> None:
            if len(leaves) > _MOST_LEAVES:
                return
            if self.feature[node] == LEAF:
                leaves.append(node)
                return
            first = len(leaves)
            visit(int(self.left[node]))
            out = (1 << len(leaves)) - (1 << first)
            tests.append(
                _Test(int(self.feature[node]), _below(self.threshold[node]), bool(self.missing_left[node]), out & 255)
            )
            visit(int(self.right[node]))

        visit(root)
        if len(leaves) > _MOST_LEAVES:
            return None
        out = np.arange(256)
        remaining = ~out & ((1 << len(leaves)) - 1)
        first = np.array([(int(bits) & -int(bits)).bit_length() - 1 for bits in remaining])
        values = self.value[np.array(leaves)[np.maximum(first, 0)]]
        used = np.flatnonzero((values != 0).any(axis=0))
        return _SmallTree(tests, {int(column): np.ascontiguousarray(values[:, column]) for column in used})

    def _leaves(self, rows: NDArray[np.float32], root: int) -> NDArray[np.intp]:
        nodes = np.full(len(rows), root, dtype=np.intp)
        moving = np.arange(len(rows)) if self.feature[root] != LEAF else np.empty(0, dtype=np.intp)
        while len(moving):
            node = nodes[moving]
            value = rows[moving, self.feature[node]]
            left = np.where(np.isnan(value), self.missing_left[node], value <= self.threshold[node])
            node = np.where(left, self.left[node], self.right[node])
            nodes[moving] = node
            moving = moving[self.feature[node] != LEAF]
        return nodes


def _below(threshold: float) -> np.float32:
    """The largest number in single precision that is not above: the same numbers are below it."""
    with np.errstate(over="ignore"):
        single = np.float32(threshold)
    return single if single <= threshold else np.nextafter(single, np.float32(-np.inf))


def single_precision(features: NDArray[np.float64]) -> NDArray[np.float32]:
    """Features as classifiers compare them. Numbers that are too large become the largest one."""
    largest = float(np.finfo(np.float32).max)
    return np.clip(features, -largest, largest).astype(np.float32)
