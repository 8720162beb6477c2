"""`webstrata changes`: the changes of all pages, newest first, with the reasons and the words that differ."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import msgspec
import typer

from webstrata.cli.history.csv_rows import csv_lines
from webstrata.cli.history.difference_text import ShownAs
from webstrata.cli.options import HomeOption, HostOption, JsonOption, LimitOption, TagOption
from webstrata.cli.output import counted, date_time, iso_or_none, json_bytes, output_to
from webstrata.cli.session import instant_or_ago, open_node, run_async
from webstrata.errors import UsageError
from webstrata.records import ChangeKind, Visit, VisitFilter

if TYPE_CHECKING:
    from webstrata.detect.diff.difference import Difference
    from webstrata.flows.changes import PageChange
    from webstrata.node import Node

Format = Literal["text", "json", "ndjson", "csv", "atom"]
_SINCE = "1d"
_LINES = 6
"""Lines of each change, if the user does not give a number."""
_LIMIT: dict[Format, int] = {"text": 100, "atom": 100}
"""Changes for readers, if the user does not give a number; formats for programs have no limit."""
_MAX_COMPARED = 100_000_000
"""Bytes of the contents that are compared for text and feeds."""

SinceOption = Annotated[
    str,
    typer.Option(
        "--since", metavar="TIME", help="Only changes found since this time, or in this duration before now (12h, 7d)."
    ),
]


def command(
    since: SinceOption = _SINCE,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", "--to", metavar="TIME", help="Only changes found until this time, or this long before now.",
            show_default=False,
        ),
    ] = None,
    tag: TagOption = None,
    host: HostOption = None,
    kind: Annotated[
        ChangeKind | None, typer.Option("--kind", help="Only changes of this kind.", show_default=False)
    ] = None,
    min_significance: Annotated[
        float, typer.Option("--min-significance", min=0.0, max=1.0, help="Only changes of at least this significance.")
    ] = 0.0,
    first: Annotated[bool, typer.Option("--first", help="Also first versions of pages.")] = False,
    requisites: Annotated[
        bool, typer.Option("--requisites", help="Also changes of images, style sheets and scripts.")
    ] = False,
    limit: LimitOption = None,
    words: Annotated[
        bool | None,
        typer.Option(
            "--words/--no-words",
            help="Text: both versions of a changed line in one line, with [-removed-] and {+added+} words. "
            "With --no-words the archive is not read, and no difference is shown.",
            show_default=False,
        ),
    ] = None,
    lines: Annotated[
        int, typer.Option("--lines", metavar="N", min=0, help="Text and feeds: maximum number of lines of each change.")
    ] = _LINES,
    format_: Annotated[Format, typer.Option("--format", help="Format of the output.")] = "text",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write to this file instead of stdout. It is replaced when it is complete.",
            show_default=False,
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Show what changed: the changes of all pages, newest first, with the reasons and the words that differ.

    Changes are those that count. Text and feeds have at most 100 changes unless --limit is given.
    """
    if as_json and format_ not in ("text", "json"):
        raise UsageError(f"--json and --format {format_} exclude each other. Leave out one of them.")
    node = open_node(home)
    now = node.clock.now()
    wanted = VisitFilter(
        which="versions" if first else "changes",
        since=instant_or_ago(since, now),
        until=instant_or_ago(until, now) if until is not None else None,
        tag=tag,
        host=host,
        kind=kind,
        min_significance=min_significance,
        requisites=requisites,
    )
    if wanted.until is not None and wanted.since is not None and wanted.since > wanted.until:
        raise UsageError("--since is later than --until. Exchange them.")
    chosen: Format = "json" if as_json else format_
    listing = _Listing(
        node, wanted, limit or _LIMIT.get(chosen), with_words=words is not False, for_reader=chosen in _LIMIT
    )
    shown = ShownAs(words=bool(words), json=chosen != "text", out=out, max_lines=lines)
    with output_to(out) as file:
        run_async(lambda: _write(file, listing, chosen, shown))
    for message in listing.messages(is_text=chosen == "text"):
        typer.echo(message, err=True)


class _Listing:
    """The changes that a call of the command lists, each with its difference."""

    def __init__(
        self, node: Node, wanted: VisitFilter, limit: int | None, *, with_words: bool, for_reader: bool
    ) -> None:
        """`for_reader`: text or a feed, for which the contents that are compared are limited."""
        from webstrata.flows.changes import ChangeReader

        self.node = node
        self.wanted = wanted
        self.limit = limit
        self.total = self.pages = 0
        self._with_words = with_words
        self._reader = ChangeReader(
            node.reader().read,
            max_decoded=node.settings.fetch.max_decoded,
            max_bytes=_MAX_COMPARED if for_reader else None,
        )

    async def changes(self) -> AsyncIterator[tuple[PageChange, Difference | None]]:
        """The changes, newest first; their numbers are known from the first one on."""
        from webstrata.flows.changes import page_changes

        async with self.node.store() as store:
            self.total, self.pages = await store.visit_log.count_listed(self.wanted)
            async for change in page_changes(store, self.wanted, self.limit):
                yield change, self._reader.difference(change, _name) if self._with_words else None

    @property
    def summary(self) -> str:
        """How many changes of how many pages there are, and since when."""
        since, until = date_time(self.wanted.since), self.wanted.until
        period = f"since {since} UTC" if until is None else f"from {since} to {date_time(until)} UTC"
        with_first = self.wanted.which == "versions"
        nouns = ("change or first version", "changes or first versions") if with_first else ("change", "changes")
        number = counted(self.total, *nouns)
        return f"{number} of {counted(self.pages, 'page')} {period}"

    def messages(self, *, is_text: bool) -> Iterator[str]:
        """What the user should know about what is not shown. Programs are told of faults only."""
        if self._reader.unreadable:
            yield (
                f"The contents of {counted(self._reader.unreadable, 'change')} cannot be read from the archive. "
                "`webstrata check` says why."
            )
        if not is_text:
            return
        if not self.total:
            yield "No change that counts. `--since 7d` looks further back, `webstrata log` shows all visits."
        if self.limit is not None and self.total > self.limit:
            yield f"The newest {self.limit} of {self.total} are shown. `--limit N` sets another number."
        if self._reader.left_out:
            yield (
                f"The words of {counted(self._reader.left_out, 'change')} are left out, because the contents are too large. "
                "`webstrata diff URL` shows them."
            )


def _name(visit: Visit) -> str:
    return date_time(visit.at)


async def _write(file: BinaryIO, listing: _Listing, format_: Format, shown: ShownAs) -> None:
    from webstrata.cli.history.change_rows import CSV_COLUMNS, change_csv, change_json

    if format_ == "text":
        await _write_text(file, listing, shown)
    elif format_ == "json":
        found = [change_json(change, difference) async for change, difference in listing.changes()]
        period = {"since": iso_or_none(listing.wanted.since), "until": iso_or_none(listing.wanted.until)}
        file.write(json_bytes({**period, "total": listing.total, "pages": listing.pages, "changes": found}))
    elif format_ == "atom":
        await _write_atom(file, listing, shown.max_lines or 0)
    elif format_ == "csv":
        file.write(csv_lines([CSV_COLUMNS]))
        async for change, difference in listing.changes():
            file.write(csv_lines([change_csv(change, difference)]))
    else:
        async for change, difference in listing.changes():
            file.write(msgspec.json.encode(change_json(change, difference)) + b"\n")
            file.flush()


async def _write_text(file: BinaryIO, listing: _Listing, shown: ShownAs) -> None:
    """The number of changes, then each with an empty line before it."""
    from webstrata.cli.history.change_rows import change_lines

    has_heading = False
    async for change, difference in listing.changes():
        if not has_heading:
            file.write(f"{listing.summary}, newest first\n".encode())
            has_heading = True
        lines = "\n".join(change_lines(change, difference, shown))
        file.write(f"\n{lines}\n".encode())
        file.flush()
    if not has_heading:
        file.write(f"{listing.summary}\n".encode())


async def _write_atom(file: BinaryIO, listing: _Listing, max_lines: int) -> None:
    from webstrata.cli.history.atom import atom_feed, feed_id

    wanted = listing.wanted
    found = [row async for row in listing.changes()]
    chosen = [f"{name} {value}" for name, value in _selection(wanted).items()]
    lines = atom_feed(
        found,
        title=" ".join(["Changes of watched pages", *chosen]),
        identity=feed_id(f"{listing.node.home.path.resolve()} {chosen}"),
        updated_at=found[0][0].visit.at if found else wanted.since or 0.0,
        max_lines=max_lines,
    )
    file.writelines(f"{line}\n".encode() for line in lines)


def _selection(wanted: VisitFilter) -> dict[str, object]:
    """What a feed selects, besides the period, which moves with every writing."""
    names = ("which", "tag", "host", "kind", "min_significance", "requisites")
    default = VisitFilter(which="changes")
    return {name: value for name in names if (value := getattr(wanted, name)) != getattr(default, name)}
