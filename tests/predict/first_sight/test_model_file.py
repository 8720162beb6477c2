"""Model files: what is written is read again, and anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from webstrata.errors import UsageError
from webstrata.predict.activity import POOLED
from webstrata.predict.first_sight.default_model import default_model
from webstrata.predict.first_sight.model import FirstSightModel, feature_rows
from webstrata.predict.first_sight.model_file import MOST_BYTES, decode, encode


def test_round_trip(small_model: FirstSightModel) -> None:
    """A decoded model says exactly what the encoded one says."""
    rows = np.random.default_rng(1).uniform(0, 20, (50, 2))
    data = encode(small_model)

    assert encode(decode(data)) == data
    assert decode(data).levels(rows).tolist() == small_model.levels(rows).tolist()


def _set(*path: Any) -> Callable[[Any], None]:
    """A function that sets a value in a document; the last argument is the value."""
    *where, key, value = path

    def change(document: Any) -> None:
        for step in where:
            document = document[step]
        document[key] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("webstrata_first_sight", 2),
        _set("features", []),
        _set("features", ["links", "links"]),
        _set("features", ["links", "w" * 300]),
        _set("interval_days", [200.0, 5.0]),
        _set("interval_days", [5.0]),
        _set("interval_days", [0.0, 5.0]),
        _set("interval_days", [5.0, 1e300]),
        _set("trust", -1.0),
        _set("trust", 1e9),
        _set("share", [0.5, 0.6]),
        _set("share", [1.5, -0.5]),
        _set("share", [1.0]),
        _set("baseline", [0.0]),
        _set("baseline", [0.0, 1e300]),
        _set("level_chances", [[1.0], [1.0]]),
        _set("level_chances", []),
        _set("level_chances", 0, 0, 0.9),
        _set("trees", "roots", []),
        _set("trees", "roots", [0, 0]),
        _set("trees", "roots", [7]),
        _set("trees", "roots", [-1]),
        _set("trees", "feature", 0, 2),
        _set("trees", "feature", 0, -2),
        _set("trees", "feature", 0, 2**70),
        _set("trees", "left", 0, 0),
        _set("trees", "left", 0, 2),
        _set("trees", "left", 2, 1),
        _set("trees", "right", 0, -1),
        _set("trees", "right", 0, 99),
        _set("trees", "threshold", 0, None),
        _set("trees", "threshold", []),
        _set("trees", "missing_left", 0, "yes"),
        _set("trees", "value", 0, [0.5]),
        _set("trees", "value", 1, [1.5, -0.5]),
        _set("trees", "value", 1, [0.5, 0.6]),
        _set("origin", "pages", -1),
        _set("origin", "error_on_unseen_sites", 7.0),
        _set("origin", "source", "x" * 300),
        _set("more", 1),
    ],
)
def test_invalid_documents(small_model: FirstSightModel, change: Callable[[Any], None]) -> None:
    """Every number out of range and every part of another size is an error of use with advice."""
    document = msgspec.json.decode(encode(small_model))
    change(document)

    with pytest.raises(UsageError, match=r"not a valid model.*webstrata train"):
        decode(msgspec.json.encode(document))


def test_deep_trees_are_refused(small_model: FirstSightModel) -> None:
    """A chain of nodes deeper than the limit is not read, nor is a document that is too large or nested too deeply."""
    document = msgspec.json.decode(encode(small_model))
    inner = 100
    nodes = 2 * inner + 1
    leaf = [index % 2 == 1 or index == nodes - 1 for index in range(nodes)]
    document["trees"] = {
        "roots": [0],
        "feature": [-1 if one else 0 for one in leaf],
        "threshold": [0.0] * nodes,
        "left": [-1 if one else index + 1 for index, one in enumerate(leaf)],
        "right": [-1 if one else index + 2 for index, one in enumerate(leaf)],
        "missing_left": [False] * nodes,
        "value": [[0.5, 0.5]] * nodes,
    }

    for data in (msgspec.json.encode(document), b" " * (MOST_BYTES + 1), b"[" * 100_000, b'{"origin":' * 50_000):
        with pytest.raises(UsageError, match="not a valid model"):
            decode(data)


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=some.data())
def test_damaged_documents(small_model: FirstSightModel, data: some.DataObject) -> None:
    """A document with any part replaced by anything, or with damaged bytes, is refused or is a model that works."""
    document = msgspec.json.decode(encode(small_model))
    place = data.draw(some.sampled_from(sorted(document)))
    if place == "trees":
        document["trees"][data.draw(some.sampled_from(sorted(document["trees"])))] = data.draw(
            JSON | some.lists(some.integers(-2, 6), min_size=5, max_size=5)
        )
    else:
        document[place] = data.draw(JSON)
    encoded = bytearray(msgspec.json.encode(document))
    if data.draw(some.booleans()):
        encoded[data.draw(some.integers(0, len(encoded) - 1))] = data.draw(some.integers(0, 255))

    try:
        model = decode(bytes(encoded))
    except UsageError:
        return
    rows = np.random.default_rng(0).normal(0, 1e3, (4, len(model.features)))
    assert model.levels(rows).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_the_shipped_model() -> None:
    """The default model is small, starts a page without features as any page, and says how good it is."""
    model = default_model()

    assert model is not None
    assert len(encode(model)) <= 300_000
    assert model.levels(feature_rows([None], model.features))[0] == pytest.approx(
        np.array(POOLED.start) / sum(POOLED.start), abs=1e-6
    )
    assert 0.5 < model.origin.error_on_unseen_sites < 0.75
    assert len(model.groups) == 4
