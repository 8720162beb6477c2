"""Pages whose groups follow from their features, and hand-made models."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.activity import POOLED
from webstrata.predict.first_sight.groups import ChangeGroups
from webstrata.predict.first_sight.model import FirstSightModel, ModelOrigin
from webstrata.predict.first_sight.training_pages import TrainingPages, regular_visits
from webstrata.predict.first_sight.trees import Trees

SITES, PAGES_OF_SITE = 8, 30


@pytest.fixture(scope="session")
def learnable() -> TrainingPages:
    """Pages with many links change every few days, small pages never; the other feature says nothing."""
    random = np.random.default_rng(5)
    links = random.uniform(0, 100, SITES * PAGES_OF_SITE)
    mean_days = np.where(links > 60, 4.0, np.where(links > 30, 40.0, 4000.0))
    changes = [np.cumsum(random.exponential(mean, 400)) for mean in mean_days]
    lasted = np.full(len(links), 360.0)
    features = np.column_stack([links, random.uniform(0, 1, len(links)), np.full(len(links), np.nan)])
    features[::17, 1] = np.nan
    return TrainingPages(
        site=tuple(f"s{number % SITES}" for number in range(len(links))),
        page=tuple(f"p{number}" for number in range(len(links))),
        names=("links", "luck", "nothing"),
        features=features,
        history=regular_visits(changes, lasted, 1.0),
    )


@pytest.fixture
def small_model() -> FirstSightModel:
    """links <= 10: slow; else words <= 5.5: fast, above: slow. Unknown links go to the right, unknown words left."""
    start = np.array(POOLED.start) / sum(POOLED.start)
    fast = start * np.linspace(0.1, 2.0, len(start))
    fast /= fast.sum()
    share = np.array([0.25, 0.75])
    return FirstSightModel(
        features=("links", "words"),
        groups=ChangeGroups((5.0, 200.0)),
        trees=Trees(
            roots=np.array([0], dtype=np.int32),
            feature=np.array([0, -1, 1, -1, -1], dtype=np.int32),
            threshold=np.array([10.0, 0.0, 5.5, 0.0, 0.0]),
            left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
            right=np.array([2, -1, 4, -1, -1], dtype=np.int32),
            missing_left=np.array([False, False, True, False, False]),
            value=np.array([[0.5, 0.5], [0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.4, 0.6]]),
        ),
        is_boosted=False,
        baseline=(0.0, 0.0),
        trust=1.0,
        share=share,
        level_chances=np.stack([fast, (start - share[0] * fast) / share[1]]),
        origin=ModelOrigin(
            pages=10, sites=2, source="hand", method="tree", error_on_unseen_pages=0.1, error_on_unseen_sites=0.5
        ),
    )
