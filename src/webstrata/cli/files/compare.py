"""`webstrata compare FILE FILE`: the verdict on two files as two versions of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from webstrata.cli.files.read_files import parse_files
from webstrata.cli.options import (
    BaseUrlOption,
    FileArgument,
    JsonOption,
    MediaTypeOption,
    RuleValues,
    page_rules_of,
    with_rule_options,
)
from webstrata.cli.output import print_json
from webstrata.records import Observation, PageRules

if TYPE_CHECKING:
    from webstrata.flows.crawl.parse import ParsedContent


@with_rule_options(
    *("layer", "select", "ignore", "ignore_text", "min_size", "unordered", "ordered", "indentation"),
    *("attributes", "ignore_attributes"),
)
def command(
    *,
    before: FileArgument,
    after: FileArgument,
    media_type: MediaTypeOption = None,
    url: BaseUrlOption = None,
    rules: RuleValues,
    as_json: JsonOption = False,
) -> None:
    """Compare two files as two versions of a page: whether it changed, the kind of change and its significance.

    This command needs no home.
    """
    from webstrata.detect.significance import share_phrase
    from webstrata.detect.verdict import judge_alone

    page_rules = page_rules_of(**rules) or PageRules()
    old, new = parse_files([before, after], media_type, url, page_rules)
    change = judge_alone(_observed(old), _observed(new), page_rules)
    if as_json:
        print_json(
            {
                "changed": change.counts,
                "kind": change.kind,
                "significance": change.significance,
                "size": change.size,
                "words_added": change.words_added,
                "words_removed": change.words_removed,
                "layer": change.layer,
                "layers": change.layers,
                "reasons": change.reasons,
                "product_values": change.product_values,
                "notes": [note for note in (old.fingerprint.data_note, new.fingerprint.data_note) if note],
            }
        )
        return
    typer.echo(f"{'changed' if change.counts else 'not changed'} ({change.kind}), decided by layer {change.layer}")
    size = f", {share_phrase(change.size)} of the content differs" if change.size > 0 else ""
    typer.echo(f"significance {change.significance:.2f}{size}")
    for reason in change.reasons:
        typer.echo(f"  {reason}")
    for name, differs in change.layers.items():
        typer.echo(f"  {name:<12} {'differs' if differs else 'equal'}")


def _observed(content: ParsedContent) -> Observation:
    """The content of a file as the result of a visit."""
    return Observation(
        url="",
        at=0.0,
        status=200,
        fingerprint=content.fingerprint,
        lines=content.lines,
        link_hashes=content.link_hashes,
        products=content.products,
    )
