"""`webstrata fingerprint FILE`: the fingerprint of a file, with all layers."""

from __future__ import annotations

import msgspec
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
from webstrata.cli.output import print_json, printable
from webstrata.records import PageRules


@with_rule_options("layer", "select", "ignore", "ignore_text", "unordered", "ordered", "indentation")
def command(
    *,
    file: FileArgument,
    media_type: MediaTypeOption = None,
    url: BaseUrlOption = None,
    rules: RuleValues,
    as_json: JsonOption = False,
) -> None:
    """Show the fingerprint of a file: the digests of its bytes, text, parts, links and data.

    This command needs no home.
    """
    page_rules = page_rules_of(**rules)
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
