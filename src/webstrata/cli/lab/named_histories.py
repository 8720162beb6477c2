"""The histories that an experiment is told to use: files, the recorded sites of the demo, or the shipped extract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.lab.policies.histories import Histories


def named_histories(files: Sequence[Path], *, recorded: bool) -> Histories:
    """Raises UsageError if both files and the recorded sites are asked for, or if a file cannot be read."""
    from webstrata.lab.policies.histories import read_histories, shipped_histories

    if not recorded:
        return read_histories(files) if files else shipped_histories()
    if files:
        raise UsageError("name either files of histories or --recorded, not both.")
    from webstrata.lab.livingweb.recording import load_shipped
    from webstrata.lab.policies.recorded_histories import recorded_histories

    return recorded_histories(load_shipped())
