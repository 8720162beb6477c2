"""The options that say how a page is looked at; `watch`, `rules`, `fingerprint` and `compare` share them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
import typer

from webstrata.errors import UsageError
from webstrata.records import PageRules

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
GraphOption = Annotated[
    list[str] | None,
    typer.Option(
        "--graph", metavar="IRI", help="SPARQL: read this graph (all: every named one; default); may be repeated."
    ),
]
PageRowsOption = Annotated[
    int, typer.Option("--page-rows", min=0, max=1_000_000, help="SPARQL: rows asked for at a time; 0: 10,000.")
]
_NOT_IN_NAME = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def page_rules_of(
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
    graphs: list[str] | None = None,
    page_rows: int = 0,
) -> PageRules | None:
    """The options as a record; none where nothing was asked for. Rules that cannot work are refused here."""
    from webstrata.observe.rules.select import check_page_rules

    page_rules = PageRules(
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
        graphs=tuple(graphs or ()),
        page_rows=page_rows,
    )
    if page_rules == PageRules():
        return None
    check_page_rules(page_rules)
    for name in page_rules.graphs:
        if name not in ("all", "default") and (":" not in name or _NOT_IN_NAME.search(name)):
            raise UsageError(f"{name[:200]!r} is no name of a graph. Give its IRI, or `all`, or `default`.")
    if page_rules.graphs and page_rules.handler not in ("auto", "sparql"):
        raise UsageError("--graph is for SPARQL endpoints: it goes with --handler sparql.")
    return page_rules


def page_rules_json(page_rules: PageRules | None) -> dict[str, Any]:
    """What differs from the defaults."""
    plain = PageRules()
    return {
        name: msgspec.to_builtins(value)
        for name in PageRules.__struct_fields__
        if (value := getattr(page_rules or plain, name)) != getattr(plain, name)
    }
