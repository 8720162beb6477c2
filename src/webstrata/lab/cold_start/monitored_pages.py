"""Pages that are monitored for the same number of days after their first version: their features, daily visits for the
classifiers, and their changes for the replays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.columns import Flags
from webstrata.errors import UsageError
from webstrata.lab.cold_start.watched_sites import CORPUS
from webstrata.lab.first_sight.page_table import as_training_pages
from webstrata.lab.first_sight.recorded_pages import RecordedPage
from webstrata.lab.policies.histories import make_histories
from webstrata.lab.policies.truth import Truth
from webstrata.predict.first_sight.training_pages import Features, TrainingPages, feature_rows


class MonitoredPages(Struct, frozen=True, kw_only=True):
    """Rows of `training` and `truth` are the same pages."""

    corpus: str
    training: TrainingPages
    truth: Truth

    def only(self, kept: Flags) -> MonitoredPages:
        """Some of the pages."""
        histories = self.truth.histories.take(np.flatnonzero(kept))
        return MonitoredPages(
            corpus=self.corpus, training=self.training.only(kept), truth=Truth(histories, self.truth.days)
        )

    def features_for(self, names: Sequence[str]) -> Features:
        """The features that a classifier reads; NaN where a page has none."""
        rows = [dict(zip(self.training.names, row, strict=True)) for row in self.training.features.tolist()]
        return feature_rows(rows, names)


def monitored_pages(pages: Sequence[RecordedPage], days: float) -> MonitoredPages:
    """The pages that lasted for so long. Raises UsageError if there is none."""
    lasting = [page for page in pages if page.lasted_days >= days]
    if not lasting:
        raise UsageError(f"no page of the sites lasted {days:g} days. Ask for fewer with --days.")
    some = [
        replace(page, lasted_days=days, changed_after_days=tuple(at for at in page.changed_after_days if at <= days))
        for page in lasting
    ]
    return MonitoredPages(
        corpus=CORPUS,
        training=as_training_pages(some),
        truth=Truth(
            make_histories(
                [
                    {
                        "corpus": CORPUS,
                        "page": f"{page.site}/{page.path}",
                        "site": page.site,
                        "first": 0.0,
                        "until": days * DAY_S,
                        "changes": [at * DAY_S for at in page.changed_after_days],
                    }
                    for page in some
                ]
            ),
            days,
        ),
    )
