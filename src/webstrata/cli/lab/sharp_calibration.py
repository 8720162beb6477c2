"""`webstrata lab sharp --calibration`: compares expected with realised sharp pages in series of captures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from webstrata.cli.output import print_json, print_table

if TYPE_CHECKING:
    from webstrata.lab.livingweb.recording import Recording
    from webstrata.lab.sharp.calibration import CalibrationRow


def check_picture(picture: Path | None) -> None:
    """Raise `UsageError` before the experiment runs if its picture cannot be written."""
    if picture is not None:
        from webstrata.plots.figure import check_format

        check_format(picture)


def measured(recordings: list[Recording], on_progress: Callable[[str], None]) -> list[CalibrationRow]:
    from webstrata.lab.sharp.calibration import calibration

    return calibration(recordings, on_progress=on_progress)


def show(rows: Sequence[CalibrationRow], picture: Path | None, as_json: bool) -> None:
    """Print the rows, and draw the reliability diagram."""
    if picture is not None:
        from webstrata.plots.calibration import draw_calibration

        picture.parent.mkdir(parents=True, exist_ok=True)
        draw_calibration(picture, rows)
    if as_json:
        print_json({"calibration": rows})
        return
    print_table(
        ("sites", "", "pages", "count", "expected", "sharp", "ratio", "blurred: expected", "got", "spread"),
        [
            (
                row.part,
                row.variant,
                _pages(row),
                row.pages,
                f"{row.expected:.1f}",
                row.sharp,
                f"{row.ratio:.4f}" if row.sharp else "",
                f"{row.pages - row.expected:.1f}",
                row.pages - row.sharp,
                "" if row.over_dispersion is None else f"{row.over_dispersion:.1f}",
            )
            for row in rows
        ],
    )


def _pages(row: CalibrationRow) -> str:
    """Which pages a row counts."""
    if row.low is not None:
        return f"chance {row.low:g} to {row.high:g}"
    if row.changed_before:
        return "changed in an earlier capture"
    return "all" if row.hours is None else f"captures of {row.hours:g} h"
