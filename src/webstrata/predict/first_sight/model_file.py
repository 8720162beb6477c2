"""Models as versioned JSON documents. A document from anywhere is safe to decode: it has numbers and names only, and
everything about them is checked."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from webstrata.errors import UsageError
from webstrata.predict.activity import POOLED
from webstrata.predict.first_sight.groups import FEWEST, MOST, ChangeGroups
from webstrata.predict.first_sight.model import FirstSightModel, ModelOrigin
from webstrata.predict.first_sight.trees import LEAF, Trees

MOST_BYTES = 20_000_000
_MOST_FEATURES, _MOST_NODES, _MOST_TREES, _DEEPEST = 256, 200_000, 5_000, 64
_MOST_TRUST, _LARGEST_VALUE, _NAME_LENGTH = 4.0, 1e4, 200
_SUM_ERROR = 1e-6


class _TreesDocument(Struct, frozen=True, forbid_unknown_fields=True):
    roots: list[int]
    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    missing_left: list[bool]
    value: list[list[float]]


class _ModelDocument(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1] = field(name="webstrata_first_sight")
    """Of the format."""
    features: list[str]
    interval_days: list[float]
    is_boosted: bool
    baseline: list[float]
    trust: float
    share: list[float]
    level_chances: list[list[float]]
    trees: _TreesDocument
    origin: ModelOrigin


def encode(model: FirstSightModel) -> bytes:
    """The model as a JSON document."""
    trees = model.trees
    document = _ModelDocument(
        version=1,
        features=list(model.features),
        interval_days=list(model.groups.interval_days),
        is_boosted=model.is_boosted,
        baseline=list(model.baseline),
        trust=model.trust,
        share=model.share.tolist(),
        level_chances=model.level_chances.tolist(),
        trees=_TreesDocument(*(getattr(trees, name).tolist() for name in _TreesDocument.__struct_fields__)),
        origin=model.origin,
    )
    return msgspec.json.encode(document) + b"\n"


def decode(data: bytes) -> FirstSightModel:
    """The model of a JSON document. Raises UsageError on anything that is not a valid model."""
    if len(data) > MOST_BYTES:
        raise _invalid(f"it has more than {MOST_BYTES / 1e6:.0f} MB")
    try:
        document = msgspec.json.decode(data, type=_ModelDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise _invalid(str(problem)) from None
    _check_names(document)
    groups = len(document.interval_days)
    share = _chances([document.share], groups, "share")[0]
    levels = _chances(document.level_chances, len(POOLED.start), "level_chances")
    if len(levels) != groups or len(document.baseline) != groups:
        raise _invalid("the number of groups differs between its parts")
    _check_range(np.array(document.baseline), -_LARGEST_VALUE, _LARGEST_VALUE, "baseline")
    _check_range(np.array([document.trust]), 0.0, _MOST_TRUST, "trust")
    _check_origin(document.origin)
    return FirstSightModel(
        features=tuple(document.features),
        groups=ChangeGroups(tuple(document.interval_days)),
        trees=_trees(document.trees, groups, len(document.features), is_boosted=document.is_boosted),
        is_boosted=document.is_boosted,
        baseline=tuple(document.baseline),
        trust=document.trust,
        share=share,
        level_chances=levels,
        origin=document.origin,
    )


def _invalid(why: str) -> UsageError:
    return UsageError(f"this is not a valid model of a classifier: {why}. Make it again with `webstrata train`.")


def _check_names(document: _ModelDocument) -> None:
    names = document.features
    if not 1 <= len(names) <= _MOST_FEATURES or len(set(names)) != len(names):
        raise _invalid(f"it needs from 1 to {_MOST_FEATURES} different features")
    if not all(1 <= len(name) <= _NAME_LENGTH for name in names):
        raise _invalid(f"the name of a feature has from 1 to {_NAME_LENGTH} characters")
    if not FEWEST <= len(document.interval_days) <= MOST:
        raise _invalid(f"it needs from {FEWEST} to {MOST} groups")
    intervals = np.array(document.interval_days)
    _check_range(intervals, 1e-6, 1e6, "interval_days")
    if (np.diff(intervals) <= 0).any():
        raise _invalid("interval_days must ascend")


def _check_origin(origin: ModelOrigin) -> None:
    if not (0 <= origin.pages < 2**53 and 0 <= origin.sites < 2**53):
        raise _invalid("the numbers of pages and sites cannot be negative")
    if max(len(origin.source), len(origin.method)) > _NAME_LENGTH:
        raise _invalid(f"the names of source and method have at most {_NAME_LENGTH} characters")
    _check_range(np.array([origin.error_on_unseen_pages, origin.error_on_unseen_sites]), 0.0, 1.0, "errors")


def _check_range(values: NDArray[Any], low: float, high: float, name: str) -> None:
    if not (np.isfinite(values) & (values >= low) & (values <= high)).all():
        raise _invalid(f"{name} must be from {low:g} to {high:g}")


def _chances(rows: list[list[float]], width: int, name: str) -> NDArray[np.float64]:
    if any(len(row) != width for row in rows):
        raise _invalid(f"each row of {name} has {width} numbers")
    found = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    _check_range(found, 0.0, 1.0, name)
    if (np.abs(found.sum(axis=1) - 1.0) > _SUM_ERROR).any():
        raise _invalid(f"each row of {name} must sum to 1")
    return found


def _trees(document: _TreesDocument, groups: int, features: int, *, is_boosted: bool) -> Trees:
    nodes = len(document.feature)
    if not 1 <= nodes <= _MOST_NODES or not 1 <= len(document.roots) <= _MOST_TREES:
        raise _invalid(f"it needs from 1 to {_MOST_TREES} trees and at most {_MOST_NODES} nodes")
    if any(len(getattr(document, name)) != nodes for name in ("threshold", "left", "right", "missing_left", "value")):
        raise _invalid("each node needs a threshold, two branches and values")
    if any(len(row) != groups for row in document.value):
        raise _invalid("each node needs one value for each group")
    for name, most in (("feature", features), ("left", nodes), ("right", nodes), ("roots", nodes)):
        if not all(LEAF <= number < most for number in getattr(document, name)):
            raise _invalid(f"a number in {name} is out of range")
    value = np.array(document.value, dtype=np.float64).reshape(nodes, groups)
    _check_range(value, -_LARGEST_VALUE, _LARGEST_VALUE, "value")
    if not is_boosted and ((value < 0).any() or (np.abs(value.sum(axis=1) - 1.0) > _SUM_ERROR).any()):
        raise _invalid("the values of a node must be chances that sum to 1")
    trees = Trees(
        roots=np.array(document.roots, dtype=np.int32),
        feature=np.array(document.feature, dtype=np.int32),
        threshold=np.array(document.threshold, dtype=np.float64),
        left=np.array(document.left, dtype=np.int32),
        right=np.array(document.right, dtype=np.int32),
        missing_left=np.array(document.missing_left, dtype=np.bool_),
        value=value,
    )
    _check_branches(trees)
    return trees


def _check_branches(trees: Trees) -> None:
    """Each node is reached in exactly one way, from a root, and not too deep below it."""
    inner = np.flatnonzero(trees.feature != LEAF)
    if not np.isfinite(trees.threshold[inner]).all():
        raise _invalid("a threshold is not a number")
    reached = np.concatenate([trees.roots, trees.left[inner], trees.right[inner]])
    if (trees.left[inner] <= inner).any() or (trees.right[inner] <= inner).any():
        raise _invalid("a branch must come after its node")
    if (reached < 0).any() or (np.bincount(reached, minlength=len(trees.feature)) != 1).any():
        raise _invalid("a node is not in exactly one tree")
    level = trees.roots
    for _ in range(_DEEPEST):
        level = level[trees.feature[level] != LEAF]
        if not len(level):
            return
        level = np.concatenate([trees.left[level], trees.right[level]])
    raise _invalid(f"a tree is deeper than {_DEEPEST} nodes")
