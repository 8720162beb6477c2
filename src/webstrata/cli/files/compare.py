"""`webstrata compare FILE FILE`: would this be a change?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.files.read_files import look_at_files
from webstrata.cli.output import print_json
from webstrata.cli.page_options import (
    IgnoreOption,
    IgnoreTextOption,
    IncludeOption,
    LayerOption,
    MinSizeOption,
    OrderedOption,
    UnorderedOption,
    page_rules_of,
)
from webstrata.cli.session import JsonOption
from webstrata.detect.layers import deciding_layer
from webstrata.detect.memory import memory_of_first_version
from webstrata.detect.verdict import judge
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.records import Observation, PageRules


def command(
    before: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    media_type: Annotated[
        str | None, typer.Option("--type", metavar="MEDIA", help="Media type; else by the files' names.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Where they come from: links are resolved against it.")
    ] = None,
    layer: LayerOption = None,
    include: IncludeOption = None,
    ignore: IgnoreOption = None,
    ignore_text: IgnoreTextOption = None,
    min_size: MinSizeOption = 0.0,
    unordered: UnorderedOption = False,
    ordered: OrderedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Judge two files as two versions of one page: changed or not, what kind, how much it matters. Needs no home."""
    page_rules = (
        page_rules_of(
            layer=layer,
            include=include,
            ignore=ignore,
            ignore_text=ignore_text,
            min_size=min_size,
            unordered=unordered,
            ordered=ordered,
        )
        or PageRules()
    )
    old, new = look_at_files([before, after], media_type, url, page_rules)
    memory = memory_of_first_version(_observed(old), deciding_layer(old.fingerprint, page_rules))
    change = judge(old.fingerprint, False, _observed(new), page_rules=page_rules, memory=memory)
    if as_json:
        print_json(
            {
                "changed": change.counts,
                "kind": change.kind,
                "significance": change.significance,
                "size": change.size,
                "layer": change.layer,
                "layers": change.layers,
                "reasons": change.reasons,
                "notes": [note for note in (old.fingerprint.data_note, new.fingerprint.data_note) if note],
            }
        )
        return
    typer.echo(f"{'changed' if change.counts else 'not changed'} ({change.kind}), by the layer {change.layer}")
    typer.echo(f"significance {change.significance:.2f}, {change.size:.0%} of the content differs")
    for reason in change.reasons:
        typer.echo(f"  {reason}")
    for name, differs in change.layers.items():
        typer.echo(f"  {name:<12} {'differs' if differs else 'equal'}")


def _observed(seen: ParsedContent) -> Observation:
    """A file as if a visit had brought it."""
    return Observation(
        url="", at=0.0, status=200, fingerprint=seen.fingerprint, lines=seen.lines, link_hashes=seen.link_hashes
    )
