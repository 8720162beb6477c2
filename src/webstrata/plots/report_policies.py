"""The report of the policy experiment: JSON data, plots, and an HTML page that contains them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import msgspec

from webstrata.lab.policies.experiment import PolicyExperiment, PolicyResults
from webstrata.plots.policies import draw_page, draw_recall_budget, draw_recall_precision
from webstrata.wording import counted

_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; color: #1e293b }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #94a3b8 } td:nth-child(-n+3), th:nth-child(-n+3) { text-align: left }
tr.value { background: #ccfbf1 } svg { max-width: 100%; height: auto }"""


def write_report(folder: Path, experiment: PolicyExperiment, results: PolicyResults) -> list[Path]:
    """Write `policies.json`, the plots and `report.html` to the folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = [folder / "recall-precision.svg", folder / "recall-budget.svg"]
    draw_recall_precision(plots[0], results.rows)
    draw_recall_budget(plots[1], results.rows)
    if results.picture is not None:
        plots.append(folder / "page.svg")
        draw_page(plots[-1], results.picture)
    data = folder / "policies.json"
    document = {"asked": experiment, **msgspec.to_builtins(results)}
    data.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1))
    report = folder / "report.html"
    report.write_text(_page(experiment, results, plots), encoding="utf-8")
    return [data, *plots, report]


def _page(experiment: PolicyExperiment, results: PolicyResults, plots: Sequence[Path]) -> str:
    conditions = [f"{counted(results.pages, 'page')}, {counted(format(experiment.days, 'g'), 'day')}"]
    if experiment.history_days:
        conditions.append(f"preceded by {experiment.history_days:g} days of copies ({experiment.copies})")
    if experiment.lists_days is not None:
        conditions.append(
            f"a dated list of each site, fetched at most every {experiment.lists_days:g} days "
            f"(recall {experiment.list_recall:g}, precision {experiment.list_precision:g})"
        )
    if experiment.reports is not None:
        conditions.append(f"{experiment.reports:g} reporting visitors per page and day")
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>Policies</title>',
        f"<style>{_STYLE}</style>",
        f"<h1>Policies on real change histories</h1><p>{escape('; '.join(conditions))}.</p>",
        "<h2>At equal downloads</h2>",
        _table(
            ("policy", "against", "budget", "corpus", "ratio of captures", "95 % interval"),
            (
                (
                    comparison.policy,
                    comparison.versus,
                    comparison.match,
                    comparison.corpus,
                    f"{comparison.ratio:.3f}",
                    f"{comparison.ratio_interval[0]:.3f} to {comparison.ratio_interval[1]:.3f}",
                )
                for comparison in results.comparisons
            ),
        ),
        *(_svg_element(plot) for plot in plots),
        "<h2>All figures</h2>",
        f"<div style='overflow-x: auto'>{_rows(results)}</div>",
    ]
    return "\n".join(parts)


def _svg_element(plot: Path) -> str:
    """The SVG element without the XML declarations before it, which HTML does not allow."""
    return "<svg" + plot.read_text(encoding="utf-8").partition("<svg")[2]


def _rows(results: PolicyResults) -> str:
    names = (
        "policy",
        "budget",
        "corpus",
        "bucket",
        "downloads",
        "captured",
        "changes",
        "recall",
        "precision",
        "freshness",
    )
    more = ("delay (days)", "outdated (days)", "unnecessary", "undetected")
    return _table(
        (*names, *more),
        (
            (
                row.policy,
                row.match or "own intervals",
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
            for row in results.rows
        ),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join(
        f'<tr class="{escape(str(row[0]))}">' + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
