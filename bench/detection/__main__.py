"""Quality of change detection: `python -m bench.detection [--data FOLDER] [--judge NAME] [--list [SPLIT]] [--json]`.

The pairs of versions were chosen and labelled before any verdict on them was computed (see README.md in the folder).
Figures are given apart for pages and data, for the sites that rules may be fitted to (`tune`) and the others
(`report`), and for the draws of the pairs (`versions`, `edits`, and `both` of them if a group has pairs of both).
Disputed pairs are counted beside them. The last tables show the significances of Webstrata's verdicts, for both draws.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

from bench.detection.judges import JUDGES
from bench.detection.pairs import DISPUTED, MEANINGFUL, LabelledPair, read_pairs
from bench.detection.scores import BIN_NAMES, Judged, Score, misjudged, score, significances

_DATA = Path("tests/data/labelled-pairs")
_SPLITS = ("report", "tune")
_KINDS = ("html", "data")
_DRAWS = {"versions": ("versions",), "edits": ("edits",), "both": ("versions", "edits")}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.detection", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--judge", choices=JUDGES, action="append", help="measure only this judge; may be repeated")
    parser.add_argument(
        "--list",
        nargs="?",
        const="tune",
        choices=_SPLITS,
        help="name the misjudged and disputed pairs (of `tune` if not said: rules must not be fitted to `report`)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    pairs = read_pairs(options.data)
    judged = {name: list(zip(pairs, JUDGES[name](pairs), strict=True)) for name in options.judge or JUDGES}
    if options.json:
        print(json.dumps(document(judged, options.list), indent=1))
        return
    print(summary(pairs), "", table(judged), *significance_tables(judged), sep="\n")
    if options.list:
        print(*listing(judged, options.list), sep="\n")


def summary(pairs: list[LabelledPair]) -> str:
    labels = [pair.label for pair in pairs]
    return (
        f"{len(pairs)} pairs of {len({pair.site for pair in pairs})} sites: {labels.count(MEANINGFUL)} meaningful,"
        f" {labels.count(DISPUTED)} disputed; {sum(len(pair.others) for pair in pairs)} other pages"
    )


def groups(judged: list[Judged]) -> dict[tuple[str, str, str], list[Judged]]:
    """(split, kind, draw) -> its pairs. `both` draws are a group only where they differ from each of them alone."""
    found = {}
    for split, kind in product(_SPLITS, _KINDS):
        of_site = [(pair, verdict) for pair, verdict in judged if (pair.split, pair.kind) == (split, kind)]
        for draw, names in _DRAWS.items():
            group = [(pair, verdict) for pair, verdict in of_site if pair.draw in names]
            if len({pair.draw for pair, _ in group}) == len(names):
                found[split, kind, draw] = group
    return found


def table(judged: dict[str, list[Judged]]) -> str:
    lines = [
        f"{'sites':7} {'kind':5} {'draw':9} {'judge':24} {'precision':>9} {'recall':>7} {'found':>6} {'missed':>7}"
        f" {'false alarms':>13} {'silent':>7} {'disputed':>9}"
    ]
    grouped = {name: groups(verdicts) for name, verdicts in judged.items()}
    for (split, kind, draw), name in product(next(iter(grouped.values())), grouped):
        group = grouped[name][split, kind, draw]
        counts = score(group)
        disputed = [verdict.changed for pair, verdict in group if pair.label == DISPUTED]
        lines.append(
            f"{split:7} {kind:5} {draw:9} {name:24} {_shown(counts.precision):>9} {_shown(counts.recall):>7}"
            f" {counts.found:>6} {counts.missed:>7} {counts.false_alarms:>13} {counts.silent:>7}"
            f" {f'{sum(disputed)} of {len(disputed)}' if disputed else '':>9}"
        )
    return "\n".join(lines)


def _shown(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def significance_tables(judged: dict[str, list[Judged]]) -> list[str]:
    """One table for each judge that says how significant changes are, and each split."""
    lines = []
    for (name, verdicts), split in product(judged.items(), _SPLITS):
        group = [(pair, verdict) for pair, verdict in verdicts if pair.split == split]
        if any(verdict.significance is not None for _, verdict in group):
            lines += ["", f"{f'{name}, {split}':19}" + "".join(f"{bin_name:>11}" for bin_name in BIN_NAMES)]
            for importance, counts in significances(group).items():
                lines.append(f"{importance:19}" + "".join(f"{count:>11}" for count in counts.values()))
    return lines


def listing(judged: dict[str, list[Judged]], split: str) -> list[str]:
    lines = []
    for name, verdicts in judged.items():
        lines += ["", f"{split}, misjudged by {name}:"]
        for pair, verdict in misjudged(verdicts):
            if pair.split == split:
                wrong = "false alarm" if verdict.changed else "missed"
                lines.append(f"  {pair.id:22} {wrong:11} {pair.path}: {pair.reason}")
                lines += [f"{'':36} {verdict.why}"] if verdict.why else []
    some = next(iter(judged.values()))
    disputed = [pair for pair, _ in some if (pair.split, pair.label) == (split, DISPUTED)]
    return [*lines, "", f"{split}, disputed:", *(f"  {pair.id:22} {pair.path}: {pair.reason}" for pair in disputed)]


def document(judged: dict[str, list[Judged]], split_listed: str | None) -> dict[str, Any]:
    """The scores of every group and judge, the significances, and the misjudged pairs of one split."""
    return {
        name: {
            "scores": {" ".join(group): _as_builtins(score(of_group)) for group, of_group in groups(verdicts).items()},
            "significances": {
                split: significances([(pair, verdict) for pair, verdict in verdicts if pair.split == split])
                for split in _SPLITS
            },
            "misjudged": [
                {"id": pair.id, "changed": verdict.changed, "reason": pair.reason, "why": verdict.why}
                for pair, verdict in misjudged(verdicts)
                if pair.split == split_listed
            ],
            "disputed": {pair.id: verdict.changed for pair, verdict in verdicts if pair.label == DISPUTED},
        }
        for name, verdicts in judged.items()
    }


def _as_builtins(counts: Score) -> dict[str, float | None]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "found": counts.found,
        "missed": counts.missed,
        "false_alarms": counts.false_alarms,
        "silent": counts.silent,
    }


if __name__ == "__main__":
    main()
