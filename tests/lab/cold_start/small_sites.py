"""Small recorded sites on which what pages look like says how often they change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.lab.first_sight.recorded_pages import RecordedPage

DAY_MS = 86_400_000
START_MS = 1_600_000_000_000
KINDS = {"news": (2, 4), "blog": (14, 30), "about": (1000, 2000)}
"""Kind of page -> the least and the most days between its changes."""
_WORDS = ("river", "garden", "engine", "museum", "letter", "winter", "harbour", "violin", "market", "forest")


def small_pages(days: int = 130, each: int = 6, sites: str = "abcd") -> list[RecordedPage]:
    """The pages of these sites: news are large, blogs have images, others have neither."""
    return [
        RecordedPage(
            site=site,
            path=f"{kind}{number}.html",
            features={
                "size": 5000.0 + number if kind == "news" else 500.0 + number,
                "images": 5.0 if kind == "blog" else 0.0,
                "words": 100.0 + number,
            },
            lasted_days=float(days),
            changed_after_days=tuple(day + 0.5 for day in range(days) if (day + 1) % _interval(kind, number) == 0),
        )
        for site in sites
        for kind in KINDS
        for number in range(each)
    ]


def write_small_sites(folder: Path, days: int = 130) -> None:
    """Two sites like these as pairs of files."""
    folder.mkdir(exist_ok=True)
    for site in ("east", "west"):
        rows: list[dict[str, Any]] = []
        contents: dict[str, bytes] = {}
        for kind in KINDS:
            for number in range(5):
                for version, day in enumerate(range(0, days + 1, _interval(kind, number))):
                    blob = f"{site}-{kind}-{number}-{version}"
                    contents[blob] = _page(kind, number, version)
                    rows.append({"path": f"{kind}{number}.html", "at": START_MS + day * DAY_MS, "blob": blob})
        rows.append({"path": "end.html", "at": START_MS + days * DAY_MS, "blob": f"{site}-about-0-0"})
        versions = pa.table(
            {
                "path": [row["path"] for row in rows],
                "at": pa.array([row["at"] for row in rows], pa.timestamp("ms", tz="UTC")),
                "blob": [row["blob"] for row in rows],
            }
        )
        pq.write_table(versions, folder / f"{site}.versions.parquet")
        blobs = pa.table({"blob": list(contents), "content": list(contents.values())})
        pq.write_table(blobs, folder / f"{site}.blobs.parquet")


def _interval(kind: str, number: int) -> int:
    least, most = KINDS[kind]
    return least + number * 4 % (most - least + 1)


def _page(kind: str, number: int, version: int) -> bytes:
    words = " ".join(f"{_WORDS[(number + version + place) % 10]}{version}x{place}" for place in range(40))
    images = "<img src=a.png>" * (5 if kind == "blog" else 0)
    filler = "<div></div>" * (200 if kind == "news" else number)
    return f"<html><title>{kind}</title><body><main><p>{words}.</p>{images}{filler}</main></body></html>".encode()
