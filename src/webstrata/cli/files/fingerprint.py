"""`webstrata fingerprint FILE`: the fingerprint of a file, with all layers."""

from __future__ import annotations

import msgspec
import typer

from webstrata.cli.files.read_files import parse_files
from webstrata.cli.options import (
    BaseUrlOption,
    FileArgument,
    IgnoreOption,
    IgnoreTextOption,
    JsonOption,
    LayerOption,
    MediaTypeOption,
    OrderedOption,
    SelectOption,
    UnorderedOption,
    page_rules_of,
)
from webstrata.cli.output import print_json, printable
from webstrata.records import PageRules


def command(
    file: FileArgument,
    media_type: MediaTypeOption = None,
    url: BaseUrlOption = None,
    layer: LayerOption = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    ignore_text: IgnoreTextOption = None,
    unordered: UnorderedOption = False,
    ordered: OrderedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the fingerprint of a file: the digests of its bytes, text, parts, links and data.

    This command needs no home.
    """
    page_rules = page_rules_of(
        layer=layer, select=select, ignore=ignore, ignore_text=ignore_text, unordered=unordered, ordered=ordered
    )
    (content,) = parse_files([file], media_type, url, page_rules or PageRules())
    layers = msgspec.to_builtins(content.fingerprint)
    if content.fingerprint.simhash is not None:
        layers["simhash"] = f"{content.fingerprint.simhash:016x}"
    document = {
        "file": str(file),
        "payload": content.payload,
        **layers,
        "urls": content.links,
        "problem": content.problem,
    }
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        if value not in (None, (), [], ""):
            shown = len(value) if name == "urls" else value
            typer.echo(f"{name:<16} {printable(shown)}")
