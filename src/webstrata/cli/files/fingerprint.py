"""`webstrata fingerprint FILE`: all layers of one content."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from webstrata.cli.files.read_files import look_at_files
from webstrata.cli.output import print_json, printable
from webstrata.cli.page_options import (
    IgnoreOption,
    IgnoreTextOption,
    IncludeOption,
    LayerOption,
    OrderedOption,
    UnorderedOption,
    page_rules_of,
)
from webstrata.cli.session import JsonOption
from webstrata.records import PageRules


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    media_type: Annotated[
        str | None, typer.Option("--type", metavar="MEDIA", help="Media type; else by the file's name.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Where it comes from: links are resolved against it.")
    ] = None,
    layer: LayerOption = None,
    include: IncludeOption = None,
    ignore: IgnoreOption = None,
    ignore_text: IgnoreTextOption = None,
    unordered: UnorderedOption = False,
    ordered: OrderedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what Webstrata sees in a file: digests of bytes, text, parts, links and data. Needs no home."""
    page_rules = page_rules_of(
        layer=layer, include=include, ignore=ignore, ignore_text=ignore_text, unordered=unordered, ordered=ordered
    )
    (seen,) = look_at_files([file], media_type, url, page_rules or PageRules())
    layers = msgspec.to_builtins(seen.fingerprint)
    if seen.fingerprint.simhash is not None:
        layers["simhash"] = f"{seen.fingerprint.simhash:016x}"
    document = {"file": str(file), "payload": seen.payload, **layers, "urls": seen.links, "problem": seen.problem}
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        if value not in (None, (), [], ""):
            shown = len(value) if name == "urls" else value
            typer.echo(f"{name:<16} {printable(shown)}")
