"""One HTML page of the experiment on policies, complete in itself, and the files that it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import msgspec

from webstrata.lab.policies.experiment import PolicyExperiment, PolicyResults
from webstrata.plots.policies import draw_page, draw_recall_budget, draw_recall_precision

_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; color: #1e293b }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #94a3b8 } td:nth-child(-n+3), th:nth-child(-n+3) { text-align: left }
tr.value { background: #ccfbf1 } svg { max-width: 100%; height: auto }"""


def write_report(folder: Path, asked: PolicyExperiment, found: PolicyResults) -> list[Path]:
    """Write `policies.json`, the pictures and `report.html` into the folder; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [folder / "recall-precision.svg", folder / "recall-budget.svg"]
    draw_recall_precision(pictures[0], found.rows)
    draw_recall_budget(pictures[1], found.rows)
    if found.picture is not None:
        pictures.append(folder / "page.svg")
        draw_page(pictures[-1], found.picture)
    data = folder / "policies.json"
    data.write_bytes(msgspec.json.format(msgspec.json.encode({"asked": asked, **msgspec.to_builtins(found)}), indent=1))
    report = folder / "report.html"
    report.write_text(_page(asked, found, pictures), encoding="utf-8")
    return [data, *pictures, report]


def _page(asked: PolicyExperiment, found: PolicyResults, pictures: Sequence[Path]) -> str:
    told = [f"{found.pages} pages, {asked.days:g} days"]
    if asked.history_days:
        told.append(f"{asked.history_days:g} days of weekly archive copies before")
    if asked.lists_days is not None:
        told.append(
            f"a dated list of each site every {asked.lists_days:g} days at most "
            f"(recall {asked.list_recall:g}, precision {asked.list_precision:g})"
        )
    if asked.reports is not None:
        told.append(f"{asked.reports:g} reporting visitors per page and day")
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>Policies</title>',
        f"<style>{_STYLE}</style>",
        f"<h1>Policies on real change histories</h1><p>{escape('; '.join(told))}.</p>",
        "<h2>At equal downloads</h2>",
        _table(
            ("policy", "against", "at", "corpus", "times", "95 %"),
            (
                (
                    one.policy,
                    one.versus,
                    one.match,
                    one.corpus,
                    f"{one.ratio:.3f}",
                    f"{one.ratio_interval[0]:.3f} to {one.ratio_interval[1]:.3f}",
                )
                for one in found.comparisons
            ),
        ),
        *("<svg" + _drawing(picture) for picture in pictures),
        "<h2>All figures</h2>",
        f"<div style='overflow-x: auto'>{_rows(found)}</div>",
    ]
    return "\n".join(parts)


def _drawing(picture: Path) -> str:
    """What follows the opening of the SVG element: an HTML page has no room for XML's declarations."""
    return picture.read_text(encoding="utf-8").partition("<svg")[2]


def _rows(found: PolicyResults) -> str:
    names = ("policy", "at", "corpus", "bucket", "downloads", "captured", "changes", "recall", "precision", "freshness")
    more = ("delay d", "outdated d", "unnecessary", "undetected")
    return _table(
        (*names, *more),
        (
            (
                row.policy,
                row.match or "own pace",
                row.corpus,
                row.bucket,
                row.downloads,
                row.captured,
                row.changes,
                f"{row.recall:.3f} ({row.recall_interval[0]:.3f} to {row.recall_interval[1]:.3f})",
                f"{row.precision:.3f} ({row.precision_interval[0]:.3f} to {row.precision_interval[1]:.3f})",
                f"{row.freshness:.3f}",
                f"{row.delay_days:.1f}",
                f"{row.outdated_days:.1f}",
                row.unnecessary,
                row.undetected,
            )
            for row in found.rows
        ),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join(
        f'<tr class="{escape(str(row[0]))}">' + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
