"""Recognition of error pages at a first visit: `python -m bench.detection.error_pages [--list [SPLIT]] [--json]`.

The pages of `tests/data/error-pages` were labelled and split by family before the rules were made, but for those of
`fresh`, which were added after (see README.md in the folder). Each page is judged by the functions of the crawl loop as
the first visit to its address. Recall is the share of the pages of a kind that are recognised as this kind; precision
is the share of the pages recognised as this kind that are of it; `false alarms` are ordinary pages among them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from webstrata.detect.response_class import StatusClass, status_class
from webstrata.detect.template import SiteTemplate
from webstrata.flows.crawl.judge import judge_visit
from webstrata.flows.crawl.parse import ParseJob, parse_content
from webstrata.records import Exchange, Page, VisitResult

DATA = Path("tests/data/error-pages")
ORDINARY = "ordinary"
SPLITS = ("fresh", "report", "tune")
KINDS = ("soft-404", "block-page", "login-wall", "placeholder")
_MAX_DECODED = 50_000_000


class LabelledPage(NamedTuple):
    """One page of the set."""

    page: str
    label: str
    split: str
    family: str
    is_genuine: bool
    status: int
    requested: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class JudgedPage(NamedTuple):
    """A page and what the crawl loop made of it: a failure kind, `gone`, or `ordinary`."""

    page: LabelledPage
    kind: str
    detail: str


class KindScore(NamedTuple):
    """The figures of one kind."""

    pages: int
    found: int
    other_kind: int
    missed: int
    false_alarms: int
    wrong: int
    """Pages of other kinds that were recognised as this kind."""

    @property
    def recall(self) -> float | None:
        return self.found / self.pages if self.pages else None

    @property
    def precision(self) -> float | None:
        told = self.found + self.false_alarms + self.wrong
        return self.found / told if told else None


def read_pages(folder: Path = DATA) -> list[LabelledPage]:
    """The pages of the set, in the order of their names."""
    with gzip.open(folder / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        contents = {row["page"]: row for row in map(json.loads, lines)}
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as rows:
        return [
            LabelledPage(
                page=row["page"],
                label=row["label"],
                split=row["split"],
                family=row["family"],
                is_genuine=row["made"].startswith("made by"),
                status=int(row["status"]),
                requested=row["requested"],
                url=row["url"],
                headers=tuple(contents[row["page"]]["headers"].items()),
                body=contents[row["page"]]["body"].encode(),
            )
            for row in csv.DictReader(rows)
        ]


def first_visit(page: LabelledPage) -> JudgedPage:
    """Judge a page as the first visit to its address."""
    headers = dict(page.headers)
    exchange = Exchange(
        url=page.url, at=0.0, duration_s=0.0, request_head=b"", status=page.status, headers=page.headers, body=page.body
    )
    result = VisitResult(page=Page(id=1, url=page.requested, host="host.example"), at=0.0, exchanges=(exchange,))
    parsed = None
    if status_class(page.status) is StatusClass.CONTENT:
        job = ParseJob(
            url=page.url,
            body=page.body,
            content_type=headers.get("content-type"),
            status=page.status,
            requested=page.requested,
            headers=headers,
            max_decoded=_MAX_DECODED,
        )
        parsed = parse_content(job)
    judged = judge_visit(result, parsed, SiteTemplate())
    if judged.failure is not None:
        return JudgedPage(page, judged.failure.kind.value, judged.failure.detail)
    is_gone = status_class(page.status) is StatusClass.GONE
    return JudgedPage(page, "gone" if is_gone else ORDINARY, "")


def score(judged: Sequence[JudgedPage], kind: str) -> KindScore:
    """The figures of a kind on some pages."""
    of_kind = [one.kind for one in judged if one.page.label == kind]
    told = [one.page.label for one in judged if one.kind == kind and one.page.label != kind]
    return KindScore(
        pages=len(of_kind),
        found=of_kind.count(kind),
        other_kind=sum(found not in (kind, ORDINARY) for found in of_kind),
        missed=of_kind.count(ORDINARY),
        false_alarms=told.count(ORDINARY),
        wrong=len(told) - told.count(ORDINARY),
    )


def groups(judged: Sequence[JudgedPage]) -> dict[tuple[str, str], list[JudgedPage]]:
    """(split, how the pages were made) -> its pages."""
    found = {}
    for split in SPLITS:
        of_split = [one for one in judged if one.page.split == split]
        found[split, "all"] = of_split
        found[split, "genuine"] = [one for one in of_split if one.page.is_genuine]
        found[split, "written"] = [one for one in of_split if not one.page.is_genuine]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.detection.error_pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--list", nargs="?", const="tune", choices=SPLITS, help="name the misjudged pages (of `tune` if not said)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    judged = [first_visit(page) for page in read_pages(options.data)]
    print(json.dumps(document(judged), indent=1) if options.json else table(judged))
    if options.list and not options.json:
        print(*misjudged(judged, options.list), sep="\n")


def document(judged: Sequence[JudgedPage]) -> list[dict[str, Any]]:
    return [
        {
            "split": split,
            "made": made,
            "kind": kind,
            **counts._asdict(),
            "recall": counts.recall,
            "precision": counts.precision,
        }
        for (split, made), group in groups(judged).items()
        for kind in KINDS
        for counts in [score(group, kind)]
    ]


def table(judged: Sequence[JudgedPage]) -> str:
    """The figures by split, by how pages were made, and by kind."""
    lines = [
        f"{'split':7} {'pages':8} {'kind':12} {'pages':>5} {'found':>6} {'other kind':>11} {'missed':>7} {'recall':>7}"
        f" {'precision':>9} {'false alarms':>13}"
    ]
    for (split, made), group in groups(judged).items():
        ordinary = [one for one in group if one.page.label == ORDINARY]
        alarms = sum(one.kind != ORDINARY for one in ordinary)
        for kind in KINDS:
            counts = score(group, kind)
            lines.append(
                f"{split:7} {made:8} {kind:12} {counts.pages:5} {counts.found:6} {counts.other_kind:11}"
                f" {counts.missed:7}"
                f" {_ratio(counts.recall):>7} {_ratio(counts.precision):>9} {counts.false_alarms:13}"
            )
        by_status = [one for one in group if one.page.label not in (*KINDS, ORDINARY)]
        right = sum(one.kind == one.page.label for one in by_status)
        lines.append(
            f"{split:7} {made:8} ordinary: {len(ordinary)} pages, {alarms} false alarms;"
            f" by status: {right} of {len(by_status)}"
        )
    return "\n".join(lines)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def misjudged(judged: Sequence[JudgedPage], split: str) -> list[str]:
    return [
        f"{one.page.page}: {one.page.label}, judged {one.kind} {one.detail}"
        for one in judged
        if one.page.split == split and one.kind != one.page.label
    ]


if __name__ == "__main__":
    main()
