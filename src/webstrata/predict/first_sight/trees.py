"""Decision trees as plain arrays, applied to many pages at once with NumPy only."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

LEAF = -1
"""Instead of the number of a feature: the node is a leaf."""


class Trees(Struct, frozen=True, kw_only=True):
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
        for root in self.roots:
            total += self.value[self._leaves(rows, int(root))]
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


def single_precision(features: NDArray[np.float64]) -> NDArray[np.float32]:
    """Features as classifiers compare them. Numbers that are too large become the largest one."""
    largest = float(np.finfo(np.float32).max)
    return np.clip(features, -largest, largest).astype(np.float32)
