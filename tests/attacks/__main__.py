"""`python -m tests.attacks [--seconds N] [--only NAME…] [--scenario NAME…] [--json]`: attack the crawler, and measure.

The exit code is 1 if the invariant does not hold: whatever one host does, every other host is visited on schedule, no
request breaks a promised gap, and memory stays under a bound. `--scenario` runs faults of the crawler's own machine
instead of the hostile hosts.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.attacks.attack import AttackPlan, AttackResult, as_json, run_attack
from tests.attacks.behaviour import Behaviour
from tests.attacks.report import broken, report
from tests.attacks.scenarios import SCENARIOS
from tests.attacks.zoo import BEHAVIOURS, GROUPS


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="length of the attack by hostile hosts")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these behaviours or groups; none: no attack")
    parser.add_argument(
        "--scenario", nargs="+", metavar="NAME", choices=(*SCENARIOS, "all"), help=f"{', '.join(SCENARIOS)} or all"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the home and the logs in this folder")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes that were started
    failed = False
    documents = {}
    for name, (result, failures) in _results(parser, arguments):
        failed = failed or bool(failures)
        documents[name] = as_json(result) | {"broken": failures}
        if not arguments.json:
            print(
                "\n".join([f"== {name}", *report(result), *(f"BROKEN: {failure}" for failure in failures)]), flush=True
            )
    if arguments.json:
        json.dump(documents, sys.stdout, indent=1)
        print()
    return 1 if failed else 0


def _results(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace
) -> Iterator[tuple[str, tuple[AttackResult, list[str]]]]:
    """The name of each attack, its result, and what is broken."""
    if not arguments.scenario:
        chosen = BEHAVIOURS if arguments.only is None else tuple(_chosen(parser, arguments.only))
        result = run_attack(AttackPlan(behaviours=chosen, seconds=arguments.seconds), arguments.keep)
        yield "hostile hosts", (result, broken(result))
        return
    for name in SCENARIOS if "all" in arguments.scenario else arguments.scenario:
        scenario = SCENARIOS[name]
        keep = arguments.keep / name if arguments.keep else None
        result = run_attack(scenario.plan(), keep)
        yield (
            f"{name}: {scenario.summary}",
            (result, broken(result, scenario.ignored) + scenario.notes(result)),
        )


def _chosen(parser: argparse.ArgumentParser, names: list[str]) -> list[Behaviour]:
    chosen: list[Behaviour] = []
    for name in names:
        found = [one for one in BEHAVIOURS if one.name == name] or list(GROUPS.get(name, ()))
        if not found and name != "none":
            parser.error(f"no such behaviour or group: {name}. The groups are {', '.join(GROUPS)}.")
        chosen += found
    return chosen


if __name__ == "__main__":
    sys.exit(main())
