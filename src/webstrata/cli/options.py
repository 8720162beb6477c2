"""The options and arguments that several commands share, as annotated types, and the page rules made from them.

An option that only one command has is defined in the file of that command.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer

from webstrata.errors import UsageError
from webstrata.records import PageRules

# ── all commands ────────────────────────────────────────────────────────────────────────────────────────────

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="FOLDER",
        help="Home folder. Default: $WEBSTRATA_HOME, or the platform's folder for application data.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Use this value of a setting in this run, like polite.delay=5s. May be repeated.",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Schedule visits by this policy instead of schedule.policy: a name, or module:Class for your own policy.",
        show_default=False,
    ),
]

# ── change histories, for commands of `lab` ─────────────────────────────────────────────────────────────────

HistoriesArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[FILE]...", help="More files of change histories.", show_default=False),
]
HistoriesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--histories",
        metavar="FILE",
        show_default=False,
        help="Parquet file of change histories, or a folder of such files (default: the shipped extract).",
    ),
]

RecordedOption = Annotated[
    bool,
    typer.Option(
        "--recorded", help="Use the pages of the demo's recorded sites instead: 197 pages of twelve sites, two years."
    ),
]

CopiesOption = Annotated[
    str,
    typer.Option(
        "--copies",
        metavar="KIND",
        help="When the copies of --history-days were taken: archive (irregular, 2 to 30 days apart on average, as an "
        "archive has them) or weekly.",
    ),
]

# ── which page, which time ──────────────────────────────────────────────────────────────────────────────────

UrlArgument = Annotated[str, typer.Argument(metavar="URL", help="URL of the page.", show_default=False)]
OptionalUrlArgument = Annotated[str | None, typer.Argument(metavar="URL", help="URL of the page.", show_default=False)]
TagOption = Annotated[
    str | None, typer.Option("--tag", metavar="TAG", help="Select the pages with this tag.", show_default=False)
]
HostOption = Annotated[
    str | None, typer.Option("--host", metavar="HOST", help="Select the pages of this host.", show_default=False)
]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Only visits at or after this time.", show_default=False)
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Only visits at or before this time.", show_default=False)
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, max=10**9, help="Maximum number of rows.", show_default=False),
]

# ── contents of files ───────────────────────────────────────────────────────────────────────────────────────

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="File with the content.", show_default=False)]
MediaTypeOption = Annotated[
    str | None,
    typer.Option(
        "--type", metavar="MEDIA", help="Media type. Default: guessed from the file name.", show_default=False
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--url", help="URL of the content; relative links are resolved against it.", show_default=False),
]

# ── page rules ──────────────────────────────────────────────────────────────────────────────────────────────

_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def page_rules_of(
    *,
    handler: Annotated[
        Literal["auto", "http", "rdf", "sparql", "feed", "sitemap", "browser"] | None,
        typer.Option(help="How the page is fetched; auto chooses by URL and media type.", show_default=False),
    ] = None,
    layer: Annotated[
        Literal["auto", "raw", "text", "main", "links", "data"] | None,
        typer.Option(
            help="Which part of the content decides whether the page changed; auto uses the main content, or the data of data formats.",
            show_default=False,
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="Compare only what matches: css:…, xpath:… or jsonpath:…. May be repeated.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="Do not compare what matches: css:…, xpath:… or jsonpath:…. May be repeated.",
            show_default=False,
        ),
    ] = None,
    ignore_text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Do not compare text that matches this regular expression. May be repeated.",
            show_default=False,
        ),
    ] = None,
    min_size: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Share of the text, from 0 to 1, that must differ at least to count as a change."
        ),
    ] = 0.0,
    unordered: Annotated[bool, typer.Option("--unordered", help="Tables: ignore the order of the rows.")] = False,
    ordered: Annotated[
        bool,
        typer.Option(
            "--ordered", help="Tables: compare the order of the rows, even if the first column identifies the rows."
        ),
    ] = False,
    indentation: Annotated[
        bool,
        typer.Option(
            "--indentation", help="Plain text: compare indentation and lines, not only words (source code, YAML)."
        ),
    ] = False,
    accept: Annotated[
        str, typer.Option(help="Accept header of the requests, like application/ld+json.", show_default=False)
    ] = "",
    query: Annotated[
        str, typer.Option(help="SPARQL query whose result is watched. Default: the whole dataset.", show_default=False)
    ] = "",
    entries: Annotated[
        bool, typer.Option("--entries", help="Feeds and sitemaps: also watch each entry as a page.")
    ] = False,
    graph: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IRI",
            help="SPARQL: read the graph with this IRI; `all` reads every named graph, `default` the default graph. May be repeated.",
            show_default=False,
        ),
    ] = None,
    page_rows: Annotated[
        int,
        typer.Option(
            min=0, max=1_000_000, help="SPARQL: number of rows of one request. 0 stands for the default of 10,000."
        ),
    ] = 0,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS",
            help="Also compare these kinds of attributes, separated by commas: description, image, label, form, "
            "structured. May be repeated.",
            show_default=False,
        ),
    ] = None,
    ignore_attributes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KINDS",
            help="Do not compare these kinds of attributes, separated by commas: title, canonical, robots, product. "
            "May be repeated.",
            show_default=False,
        ),
    ] = None,
) -> PageRules | None:
    """The page rules that the options define; None if all options have their defaults. Invalid rules raise UsageError.

    `with_rule_options` adds these options to a command.
    """
    from webstrata.observe.rules.select import check_page_rules

    page_rules = PageRules(
        handler=handler or ("sparql" if graph else "auto"),
        layer=layer or "auto",
        include=tuple(select or ()),
        ignore=tuple(ignore or ()),
        ignore_text=tuple(ignore_text or ()),
        min_size=min_size,
        unordered=unordered,
        ordered=ordered,
        indentation=indentation,
        accept=accept,
        query=query,
        entries=entries,
        graphs=tuple(graph or ()),
        page_rows=page_rows,
        attributes=_kinds(attributes),
        ignore_attributes=_kinds(ignore_attributes),
    )
    if page_rules == PageRules():
        return None
    check_page_rules(page_rules)
    if not _HEADER_VALUE.fullmatch(accept):
        raise UsageError(f"--accept {accept[:100]!r} cannot be sent in a header. Write media types, like text/turtle.")
    for name in page_rules.graphs:
        if name not in ("all", "default") and (":" not in name or _NOT_IN_IRI.search(name)):
            raise UsageError(f"{name[:200]!r} is not the IRI of a graph. Give an IRI, `all` or `default`.")
    if page_rules.graphs and page_rules.handler not in ("auto", "sparql"):
        raise UsageError("--graph requires the handler sparql. Leave out --handler, or use --handler sparql.")
    return page_rules


def _kinds(values: list[str] | None) -> tuple[str, ...]:
    """The kinds in lists that are separated by commas, each once."""
    written = [kind.strip().lower() for value in values or () for kind in value.split(",")]
    return tuple(dict.fromkeys(filter(None, written)))


RuleValues = dict[str, Any]
"""Values of the options of page rules, by parameter name of `page_rules_of`."""


def with_rule_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that replaces the parameter `rules` (RuleValues) of a command by these options, or by all options."""
    parameters = inspect.signature(page_rules_of, eval_str=True).parameters
    options = [parameters[name] for name in names or parameters]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def decorated(**values: Any) -> None:
            command(rules={option.name: values.pop(option.name) for option in options}, **values)

        own = inspect.signature(command, eval_str=True).parameters
        replaced = [option for name in own for option in (options if name == "rules" else [own[name]])]
        vars(decorated)["__signature__"] = inspect.Signature(replaced)  # Typer reads the options from it
        return decorated

    return decorate


_OPTIONS = {"include": "--select", "graphs": "--graph"}
"""Fields of PageRules whose option has another name."""


def page_rules_json(page_rules: PageRules | None) -> dict[str, Any]:
    """The fields that differ from the defaults."""
    default = PageRules()
    return {
        name: msgspec.to_builtins(value)
        for name in PageRules.__struct_fields__
        if (value := getattr(page_rules or default, name)) != getattr(default, name)
    }


def page_rules_options(page_rules: PageRules) -> list[tuple[str, str | None]]:
    """The command-line options that define exactly these rules, as (option, value); the value of a flag is None."""
    options: list[tuple[str, str | None]] = []
    if page_rules.graphs and page_rules.handler == PageRules().handler:
        options.append(("--handler", page_rules.handler))  # else --graph sets the handler, too
    for name, value in page_rules_json(page_rules).items():
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        values = value if isinstance(value, list | tuple) else [value]
        options += [(option, None if item is True else str(item)) for item in values]
    return options
