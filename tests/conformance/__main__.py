"""`python -m tests.conformance [DATA] [--json]`: family, passed, contested by written choice, failed.

DATA is a folder with one sub-folder of cases for each family; the repository's own extract by default.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.conformance.runner import EXTRACT, verdicts
from tests.conformance.verdict import Verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=EXTRACT)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--family", action="append", help="only this one (may be repeated)")
    arguments = parser.parse_args()
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
    print(f"{'family':<22}{'passed':>8}{'contested by written choice':>30}{'failed':>8}")
    for name, verdict in found.items():
        print(f"{name:<22}{verdict.passed:>8}{len(verdict.contested):>30}{len(verdict.failed):>8}")
    for name, verdict in found.items():
        for line in verdict.failed:
            print(f"FAILED {name}: {line}")


if __name__ == "__main__":
    sys.exit(main())
