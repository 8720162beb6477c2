"""`webstrata lab policies --bytes`: value per visit and value per byte, at equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from webstrata.cli.output import print_json, print_table
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.policies.byte_experiment import CostsOf
    from webstrata.lab.policies.histories import Histories


def show_bytes(
    histories: Histories, *, days: float, match: tuple[str, ...], share: float, costs_of: CostsOf, as_json: bool
) -> None:
    """Run the experiment and print its rows. Raises UsageError if not exactly one policy is matched."""
    from webstrata.lab.policies.byte_experiment import run_bytes

    if len(match) != 1:
        raise UsageError("--bytes compares at the bytes of one policy. Name one timer policy with --match.")
    results = run_bytes(histories, days=days, match=match[0], share=share, costs_of=costs_of)
    if as_json:
        print_json({"rows": results.rows, "ratios": results.ratios})
        return
    print_table(
        ("ranked by", "corpus", "MB", "downloads", "captured", "changes", "recall"),
        [
            (
                row.ranked_by,
                row.corpus,
                f"{row.bytes / 1e6:.1f}",
                row.downloads,
                row.captured,
                row.changes,
                f"{row.captured / row.changes if row.changes else 0.0:.3f}",
            )
            for row in results.rows
        ],
    )
    typer.echo("\nCaptures by value per byte, divided by those by value per visit:\n")
    print_table(("corpus", "ratio"), [(corpus, f"{ratio:.3f}") for corpus, ratio in results.ratios.items()])
