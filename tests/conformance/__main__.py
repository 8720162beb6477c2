"""`python -m tests.conformance [DATA] [--json]`: family, passed, contested by a written rule, failed, unplayed.

DATA is a folder with one sub-folder of cases for each family; the repository's own extract by default. The exit code
is 1 if a row failed. Rows that the runner cannot play are counted as unplayed, with the reason in `--json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from tests.conformance.runner import EXTRACT, verdicts
from tests.conformance.verdict import Verdict

_MAX_REASONS = 3
"""Reasons shown for each family in the table; `--json` has all."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=EXTRACT)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--family", action="append", help="only this one (may be repeated)")
    arguments = parser.parse_args(argv)
    if not arguments.data.is_dir():
        parser.error(f"no such folder: {arguments.data}")
    found = dict(verdicts(arguments.data, arguments.family or ()))
    show = _print_json if arguments.json else _print_table
    show(found)
    return 1 if any(verdict.failed for verdict in found.values()) else 0


def _print_json(found: dict[str, Verdict]) -> None:
    rows = {name: vars(verdict) for name, verdict in found.items()}
    json.dump(rows, sys.stdout, indent=1)
    print()


def _print_table(found: dict[str, Verdict]) -> None:
    print(f"{'family':<22}{'passed':>8}{'contested by a written rule':>30}{'failed':>8}{'unplayed':>10}")
    for name, verdict in found.items():
        counts = f"{verdict.passed:>8}{len(verdict.contested):>30}{len(verdict.failed):>8}{len(verdict.unplayed):>10}"
        print(f"{name:<22}{counts}")
    for name, verdict in found.items():
        for rule, count in Counter(row["rule"] for row in verdict.contested).items():
            print(_printable(f"CONTESTED {name} ({count}): {rule}"))
        for reason, count in Counter(row["reason"] for row in verdict.unplayed).most_common(_MAX_REASONS):
            print(_printable(f"UNPLAYED {name} ({count}): {reason}"))
    for name, verdict in found.items():
        for line in verdict.failed:
            print(_printable(f"FAILED {name}: {line}"))


def _printable(line: str) -> str:
    """The line without characters that the output's encoding lacks (rows from outside may hold lone surrogates)."""
    encoding = sys.stdout.encoding or "utf-8"
    return line.encode(encoding, "backslashreplace").decode(encoding)


if __name__ == "__main__":
    sys.exit(main())
