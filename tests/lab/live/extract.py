"""The small extract of real histories in `tests/data`, by corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from webstrata.clock import DAY_S
from webstrata.lab.policies.histories import Histories, make_histories

FILE = Path(__file__).parents[2] / "data" / "histories" / "window.jsonl"
_WINDOW_DAYS = 1095


def extract_rows(*corpora: str) -> list[dict[str, Any]]:
    """Rows with the columns of a history file; pages exist from the start of the recorded window on."""
    rows = [msgspec.json.decode(line) for line in FILE.read_bytes().splitlines()]
    return [
        {**row, "first": row["until"] - _WINDOW_DAYS * DAY_S - 1, "bucket": None}
        for row in rows
        if not corpora or row["corpus"] in corpora
    ]


def extract(*corpora: str) -> Histories:
    return make_histories(extract_rows(*corpora))
