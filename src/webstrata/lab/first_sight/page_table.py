"""The pages of recorded sites as one Parquet file: features and times of changes, without any content."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.errors import UsageError
from webstrata.lab.first_sight.recorded_pages import MOST_PAGES, RecordedPage
from webstrata.observe.static_features import STATIC_FEATURES
from webstrata.predict.first_sight.training_pages import TrainingPages, feature_rows, regular_visits

VISIT_DAYS = 1.0
"""The pages are monitored once a day, as in the paper."""


def write_page_table(pages: Sequence[RecordedPage], file: Path) -> None:
    """One row for each page; a feature that no page has gets no column."""
    names = [name for name in STATIC_FEATURES if any(name in page.features for page in pages)]
    features = feature_rows([page.features for page in pages], names).astype(np.float32)
    table = pa.table(
        {
            "site": pa.array([page.site for page in pages], pa.string()),
            "path": pa.array([page.path for page in pages], pa.string()),
            "lasted_days": pa.array([page.lasted_days for page in pages], pa.float32()),
            "changed_after_days": pa.array([page.changed_after_days for page in pages], pa.list_(pa.float32())),
            **{name: pa.array(column) for name, column in zip(names, features.T, strict=True)},
        }
    )
    pq.write_table(table, file, compression="zstd", compression_level=19)


def read_page_table(file: Path) -> list[RecordedPage]:
    """The pages of a file that `write_page_table` wrote. Raises UsageError on any other file."""
    try:
        table: Any = pq.read_table(file)
        columns = {name: table[name].to_pylist() for name in table.column_names}
        names = [name for name in STATIC_FEATURES if name in columns]
        return [
            RecordedPage(
                site=site,
                path=path,
                features={name: columns[name][row] for name in names},
                lasted_days=lasted,
                changed_after_days=tuple(after),
            )
            for row, (site, path, lasted, after) in enumerate(
                zip(
                    columns["site"],
                    columns["path"],
                    columns["lasted_days"],
                    columns["changed_after_days"],
                    strict=True,
                )
            )
        ]
    except (OSError, pa.ArrowException, KeyError, TypeError) as problem:
        raise UsageError(
            f"{file} is not a table of pages: {problem}. Name a folder of recorded sites, or `shipped`."
        ) from None


def shipped_pages(most: int = MOST_PAGES) -> list[RecordedPage]:
    """The pages of the default model, with at most this number of each site (the first by path). Their sources and
    licences are in README.md in the same folder."""
    with as_file(files("webstrata.lab") / "data" / "first_sight" / "pages.parquet") as file:
        pages = read_page_table(file)
    return [page for _, of_site in groupby(pages, attrgetter("site")) for page in islice(of_site, most)]


def as_training_pages(pages: Sequence[RecordedPage]) -> TrainingPages:
    """The pages with their histories as daily visits would have seen them."""
    names = tuple(name for name in STATIC_FEATURES if any(name in page.features for page in pages))
    return TrainingPages(
        site=tuple(page.site for page in pages),
        page=tuple(page.path for page in pages),
        names=names,
        features=feature_rows([page.features for page in pages], names),
        history=regular_visits(
            [np.array(page.changed_after_days) for page in pages],
            np.array([page.lasted_days for page in pages]),
            VISIT_DAYS,
        ),
    )
