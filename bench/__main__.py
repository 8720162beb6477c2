"""`python -m bench [--quick] [--only NAME] [--json]`: measure every speed claim on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from bench import (
    bodies,
    crawl,
    documents,
    estimators,
    fingerprint,
    graph,
    imports,
    memory,
    million,
    planning,
    replay,
    sharp,
    signals,
    startup,
    value,
)
from bench.figures import Figure, as_builtins, table

BENCHES: dict[str, Callable[[bool], list[Figure]]] = {
    "bodies": bodies.run,
    "crawl": crawl.run,
    "documents": documents.run,
    "estimators": estimators.run,
    "fingerprint": fingerprint.run,
    "graph": graph.run,
    "imports": imports.run,
    "memory": memory.run,
    "million": million.run,
    "planning": planning.run,
    "replay": replay.run,
    "sharp": sharp.run,
    "signals": signals.run,
    "startup": startup.run,
    "value": value.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=BENCHES, action="append", help="run only this benchmark; may be repeated")
    parser.add_argument("--quick", action="store_true", help="fewer pages and repeats; the results are not reliable")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.only or BENCHES:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += BENCHES[name](options.quick)
    print(json.dumps(as_builtins(figures), indent=1) if options.json else table(figures))
    return 1 if any(figure.met is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
