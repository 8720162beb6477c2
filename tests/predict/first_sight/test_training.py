"""Training on pages whose groups follow from their features."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.predict.activity import POOLED
from webstrata.predict.first_sight.evaluation import chances_on_unseen, confusion, error_of
from webstrata.predict.first_sight.explaining import explained, tree_lines
from webstrata.predict.first_sight.fitted_trees import trees_of
from webstrata.predict.first_sight.folds import page_parts, site_parts
from webstrata.predict.first_sight.methods import METHODS, fit
from webstrata.predict.first_sight.model import feature_rows
from webstrata.predict.first_sight.model_file import encode
from webstrata.predict.first_sight.training import Training, train
from webstrata.predict.first_sight.training_pages import TrainingPages

START = np.array(POOLED.start) / sum(POOLED.start)


@pytest.fixture(scope="module")
def training(learnable: TrainingPages) -> Training:
    return train(learnable, k=3, compared=("tree", "naive-bayes"), source="test")


def test_the_right_tree_is_learned(training: Training) -> None:
    """The tree asks for the links at about 30 and 60, and is nearly always right, also on unseen sites."""
    model, report = training.model, training.report
    thresholds = model.trees.threshold[model.trees.feature == model.features.index("links")]

    assert report.chosen == "tree"
    assert any(abs(thresholds - 30) < 4)
    assert any(abs(thresholds - 60) < 4)
    assert all(row.unseen_sites.error < 0.2 for row in report.methods)
    assert report.importance[0].feature == "links"
    assert report.trust > 0.5
    assert report.gained_bits > 0.5
    assert sum(map(sum, report.confusion)) == report.pages


def test_pages_with_many_links_start_faster(training: Training) -> None:
    """The belief about a page follows its features; without any, it is that of any page."""
    model = training.model
    rows = feature_rows([{"links": 90.0}, {"links": 5.0}, None, {"other": 1.0}], model.features)

    levels = model.levels(rows)

    means = levels @ np.arange(len(START))
    assert means[0] > means[2] > means[1]
    assert levels[2:] == pytest.approx(np.tile(START, (2, 1)), abs=1e-6)
    assert model.groups_of(rows[:2]).tolist() == [0, 2]


def test_training_is_repeatable(learnable: TrainingPages) -> None:
    """The same pages give the same bytes of a model, and boosting the same trees."""
    first, second = (train(learnable, k=2, method="tree-unpruned", compared=()) for _ in range(2))
    assert encode(first.model) == encode(second.model)
    assert first.report.chosen == "tree-unpruned"

    group, parts = (learnable.rates > 0.1).astype(np.intp), page_parts(len(learnable))
    one, other = (trees_of(fit("boosting", learnable.features, group, 2, parts))[0] for _ in range(2))
    assert one.value.tobytes() == other.value.tobytes()
    assert one.threshold.tobytes() == other.threshold.tobytes()


def test_luck_is_not_trusted(learnable: TrainingPages) -> None:
    """If the features say nothing, the classifier has the error of a guess, and beliefs stay those of any page."""
    noise = replace(learnable, features=np.random.default_rng(3).permutation(learnable.features))

    found = train(noise, k=3, method="tree-unpruned", compared=())

    assert found.report.methods[0].unseen_sites.error > 0.5
    assert found.report.trust <= 0.2
    assert found.model.levels(noise.features[:, : len(found.model.features)]) == pytest.approx(
        np.tile(START, (len(noise), 1)), abs=0.06
    )


def test_a_feature_of_one_site(learnable: TrainingPages) -> None:
    """A feature that is known of the pages of one site only is missing in some folds, which no method minds."""
    features = learnable.features.copy()
    features[np.array(learnable.site) != "s1", 1] = np.nan
    group = (learnable.rates > 0.1).astype(np.intp)

    for method in METHODS:
        found = chances_on_unseen(method, features, group, 2, site_parts(learnable.site))
        assert error_of(confusion(group, found.argmax(axis=1), 2)) < 0.45


def test_too_little_to_learn_from(learnable: TrainingPages) -> None:
    """Too few pages, one site, pages without changes, equal features and unknown methods are errors of use."""
    number = np.arange(len(learnable))
    still = replace(learnable, history=replace(learnable.history, changed=np.zeros_like(learnable.history.changed)))
    for pages, method, why in (
        (learnable.only(number < 20), "best", "20 usable pages"),
        (learnable.only(np.array(learnable.site) == "s1"), "best", "of 1 sites"),
        (still, "best", "0 of them with changes"),
        (replace(learnable, features=np.ones_like(learnable.features)), "best", "same features"),
        (learnable, "nearest-1", "cannot hold 'nearest-1'"),
    ):
        with pytest.raises(UsageError, match=why):
            train(pages, k=2, method=method, compared=())


def test_explanations(training: Training) -> None:
    """The path and the features that count are those that the tree asks for; the text has one line for each leaf."""
    model = training.model
    row = feature_rows([{"links": 90.0, "luck": 0.5}], model.features)

    found = explained(model, row, np.array(POOLED.per_day))

    assert found.group == model.groups.names[0]
    assert found.path[0].feature == "links"
    assert found.effects[0].feature == "links"
    assert found.mean_rate_per_day > 0.005
    assert sum("%)" in line for line in tree_lines(model)) == int((model.trees.feature == -1).sum())
