"""The options that say how a page is looked at; `watch`, `look`, `fingerprint` and `compare` share them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import typer

from webstrata.records import Looking

HandlerOption = Annotated[
    Literal["auto", "http", "rdf", "sparql", "feed", "sitemap", "browser"] | None,
    typer.Option("--handler", help="How to get it; auto decides by address and media type.", show_default=False),
]
LayerOption = Annotated[
    Literal["auto", "raw", "text", "main", "links", "data"] | None,
    typer.Option("--layer", help="What counts as a change; auto: useful content, or data.", show_default=False),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULE", help="Compare only this: css:…, xpath:… or jsonpath:…; may be repeated."),
]
IgnoreOption = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="RULE", help="Leave this out: css:…, xpath:… or jsonpath:….")
]
IgnoreTextOption = Annotated[
    list[str] | None, typer.Option("--ignore-text", metavar="REGEX", help="Leave out text that matches.")
]
MinSizeOption = Annotated[
    float, typer.Option("--min-size", min=0.0, max=1.0, help="Smaller changes (share of the text) do not count.")
]
UnorderedOption = Annotated[bool, typer.Option("--unordered", help="Tables: the order of rows does not count.")]
OrderedOption = Annotated[
    bool, typer.Option("--ordered", help="Tables: the order of rows counts, even where the first column names them.")
]
AcceptOption = Annotated[str, typer.Option("--accept", help="Accept header to send.", show_default=False)]
QueryOption = Annotated[str, typer.Option("--query", help="SPARQL query; without: everything.", show_default=False)]
EntriesOption = Annotated[bool, typer.Option("--entries", help="Feeds and sitemaps: watch each entry too.")]


def looking_of(
    *,
    handler: str | None = None,
    layer: str | None = None,
    include: list[str] | None = None,
    ignore: list[str] | None = None,
    ignore_text: list[str] | None = None,
    min_size: float = 0.0,
    unordered: bool = False,
    ordered: bool = False,
    accept: str = "",
    query: str = "",
    entries: bool = False,
) -> Looking | None:
    """The options as a record; none where nothing was asked for. Rules that cannot work are refused here."""
    from webstrata.observe.select import check_looking

    looking = Looking(
        handler=handler or "auto",
        layer=layer or "auto",
        include=tuple(include or ()),
        ignore=tuple(ignore or ()),
        ignore_text=tuple(ignore_text or ()),
        min_size=min_size,
        unordered=unordered,
        ordered=ordered,
        accept=accept,
        query=query,
        entries=entries,
    )
    if looking == Looking():
        return None
    check_looking(looking)
    return looking


def looking_json(looking: Looking | None) -> dict[str, Any]:
    """What differs from the defaults."""
    plain = Looking()
    return {
        name: msgspec.to_builtins(value)
        for name in Looking.__struct_fields__
        if (value := getattr(looking or plain, name)) != getattr(plain, name)
    }
