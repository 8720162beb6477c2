"""Pictures of the groups of pages (Figure 2 of the paper), of a training, and of a decision tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from webstrata.plots.figure import GREY, INK, ORANGE, TEAL, check_format, label, new_figure, save
from webstrata.predict.first_sight.explaining import number_text
from webstrata.predict.first_sight.groups import GroupSizes
from webstrata.predict.first_sight.model import FirstSightModel
from webstrata.predict.first_sight.training import MethodErrors, Training, TrainingReport
from webstrata.predict.first_sight.trees import LEAF

_SHADES = ("#0f766e", "#5eaaa2", "#cbd5e1", "#d9a15b", "#b45309", "#7c2d12")
_SHOWN_FEATURES = 10
_LEAF_WIDTH, _LEVEL_HEIGHT = 1.15, 0.95
_MOST_LEAVES = 64
_LEGEND_HEIGHT = 2.6
"""Space for the legend below the methods."""


def draw_groups(
    file: Path, sizes: Sequence[GroupSizes], methods: Sequence[MethodErrors], random_error: float
) -> Figure:
    """For each number of groups the pages in each group; below, the errors of the methods."""
    check_format(file)
    figure = new_figure(2.5 * len(sizes), 5.6)
    grid = figure.add_gridspec(2, len(sizes), height_ratios=(3, 2))
    most = max(max(one.pages) for one in sizes) * 1.15
    for index, one in enumerate(sizes):
        axes = figure.add_subplot(grid[0, index])
        places = np.arange(len(one.pages))
        axes.bar(places, one.pages, color=TEAL, width=0.7)
        for place, pages in enumerate(one.pages):
            axes.text(place, pages, str(pages), ha="center", va="bottom", fontsize=7, color=INK)
        axes.set_xticks(places, one.groups.names, rotation=55, ha="right", fontsize=7)
        axes.set(ylim=(0, most))
        axes.set_title(f"{len(one.pages)} groups: {one.explained:.0%} explained", fontsize=8, color=INK, loc="left")
        axes.set_ylabel("pages" if not index else "", color=INK, fontsize=8)
        axes.set_yticks([])
        _plain(axes)
    _draw_errors(figure.add_subplot(grid[1, :]), methods, random_error)
    return save(figure, file)


def draw_training(file: Path, training: Training) -> Figure:
    """The errors of the methods, the confusion on unseen sites, the features that count, and a tree if there is one."""
    check_format(file)
    report, model = training.report, training.model
    leaves, depth = _shape(model)
    has_tree = not model.is_boosted and leaves <= _MOST_LEAVES
    width = max(12.0, _LEAF_WIDTH * leaves if has_tree else 0.0)
    tree_height = _LEVEL_HEIGHT * (depth + 1) + 0.3 if has_tree else 0.0
    figure = new_figure(width, 3.6 + tree_height)
    grid = figure.add_gridspec(2 if has_tree else 1, 3, height_ratios=(3.6, tree_height) if has_tree else (1,))
    panels = [figure.add_subplot(grid[0, column]) for column in range(3)]
    _draw_errors(panels[0], report.methods, report.random_error)
    _draw_confusion(panels[1], report)
    _draw_importance(panels[2], report)
    if has_tree:
        _draw_tree(figure.add_subplot(grid[1, :]), model, leaves, depth)
    return save(figure, file)


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=7)


def _draw_errors(axes: Axes, methods: Sequence[MethodErrors], random_error: float) -> None:
    places = np.arange(len(methods))[::-1]
    for offset, colour, name, rates in (
        (0.14, GREY, "unseen pages of known sites", [row.unseen_pages for row in methods]),
        (-0.14, TEAL, "unseen sites", [row.unseen_sites for row in methods]),
    ):
        errors = np.array([rate.error for rate in rates])
        axes.hlines(places + offset, [rate.low for rate in rates], [rate.high for rate in rates], color=colour, lw=1.5)
        axes.plot(errors, places + offset, "o", color=colour, ms=4, label=name)
    axes.axvline(random_error, color=ORANGE, lw=0.9, ls="--", label="a guess without looking")
    axes.set_yticks(places, [row.method for row in methods])
    axes.set(xlim=(0, 1), ylim=(-_LEGEND_HEIGHT, len(methods) - 0.4))
    axes.set_xlabel("share of pages in a wrong group (balanced)", color=INK, fontsize=8)
    axes.legend(frameon=False, fontsize=7, loc="lower left")
    _plain(axes)


def _draw_confusion(axes: Axes, report: TrainingReport) -> None:
    counts = np.array(report.confusion, dtype=np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.4)
    for row, column in np.ndindex(*shares.shape):
        axes.text(column, row, f"{shares[row, column]:.0%}", ha="center", va="center", fontsize=8, color=INK)
    places = np.arange(len(report.groups))
    axes.set_xticks(places, report.groups, rotation=30, ha="right")
    axes.set_yticks(places, report.groups)
    axes.set_xlabel("found group", color=INK, fontsize=8)
    axes.set_ylabel("true group", color=INK, fontsize=8)
    axes.set_title(f"{report.chosen}, on unseen sites", fontsize=9, color=INK, loc="left")
    axes.tick_params(labelsize=7)


def _draw_importance(axes: Axes, report: TrainingReport) -> None:
    shown = [one for one in report.importance if one.rise > 0][:_SHOWN_FEATURES][::-1]
    places = np.arange(len(shown))
    axes.barh(places, [100 * one.rise for one in shown], color=TEAL, height=0.6)
    axes.set_yticks(places, [label(one.feature) for one in shown])
    axes.set_xlabel("rise of the error if shuffled (points)", color=INK, fontsize=8)
    axes.set_title("features that count, on unseen sites", fontsize=9, color=INK, loc="left")
    _plain(axes)


def _shape(model: FirstSightModel) -> tuple[int, int]:
    """(leaves, depth) of the first tree."""
    trees, level, leaves, depth = model.trees, model.trees.roots[:1], 0, 0
    while True:
        inner = level[trees.feature[level] != LEAF]
        leaves += len(level) - len(inner)
        if not len(inner):
            return leaves, depth
        level = np.concatenate([trees.left[inner], trees.right[inner]])
        depth += 1


def _draw_tree(axes: Axes, model: FirstSightModel, leaves: int, depth: int) -> None:
    """Leaves from left to right; each node stands above the middle of its branches."""
    trees = model.trees
    places: dict[int, float] = {}

    def draw(node: int, level: int) -> float:
        if trees.feature[node] == LEAF:
            place = float(len([one for one in places if trees.feature[one] == LEAF]))
        else:
            left, right = int(trees.left[node]), int(trees.right[node])
            ends = draw(left, level + 1), draw(right, level + 1)
            place = sum(ends) / 2
            for end, text in zip(ends, ("yes", "no"), strict=True):
                axes.plot([place, end], [-level - 0.18, -level - 0.72], color=GREY, lw=0.8)
                axes.text(
                    (place + end) / 2, -level - 0.45, text, fontsize=6, color=GREY, ha="center", va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                )  # fmt: skip
        places[node] = place
        _draw_node(axes, model, node, (place, -float(level)))
        return place

    draw(int(trees.roots[0]), 0)
    axes.set(xlim=(-0.6, leaves - 0.4), ylim=(-depth - 0.45, 0.35))
    axes.axis("off")


def _draw_node(axes: Axes, model: FirstSightModel, node: int, place: tuple[float, float]) -> None:
    value = model.trees.value[node]
    best = int(np.argmax(value))
    is_leaf = model.trees.feature[node] == LEAF
    if is_leaf:
        text = f"{model.groups.names[best]}\n{value[best]:.0%}"
    else:
        name = model.features[model.trees.feature[node]]
        text = f"{label(name, 16)}\n≤ {number_text(float(model.trees.threshold[node]))} ?"
    shade = _SHADES[round(best * (len(_SHADES) - 1) / (len(value) - 1))]
    box = {
        "boxstyle": "round,pad=0.25",
        "facecolor": f"{shade}33" if is_leaf else "white",
        "edgecolor": GREY,
        "lw": 0.6,
    }
    axes.text(*place, text, ha="center", va="center", fontsize=6.5, color=INK, bbox=box)
