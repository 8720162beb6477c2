"""`webstrata export visits|changes|forecasts`: tables for research, as Parquet or CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, Protocol

import typer

from webstrata.cli.history.csv_rows import csv_lines
from webstrata.cli.options import HomeOption, HostOption, JsonOption, TagOption
from webstrata.cli.output import counted, iso_or_none, output_to, print_json, progress_bar, size
from webstrata.cli.session import instant_or_ago, open_node, run_async
from webstrata.clock import iso
from webstrata.errors import UsageError
from webstrata.records import VisitFilter

if TYPE_CHECKING:
    from webstrata.flows.exported_tables import TableColumn
    from webstrata.node import Node
    from webstrata.ports import Store

TableFormat = Literal["parquet", "csv"]
Batches = Callable[["Store"], AsyncIterator[list[Any]]]

OutArgument = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="The file to write (.parquet, .csv); - for stdout.")
]
FormatOption = Annotated[
    TableFormat | None,
    typer.Option("--format", help="Format of the file. Default: by the end of its name.", show_default=False),
]
SinceOption = Annotated[
    str | None,
    typer.Option(
        "--since",
        "--from",
        metavar="TIME",
        help="Only visits since this time, or in this duration before now (30d).",
        show_default=False,
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until",
        "--to",
        metavar="TIME",
        help="Only visits until this time, or this long before now.",
        show_default=False,
    ),
]


class TableFile(Protocol):
    """A file to which batches of rows are written."""

    def write(self, rows: Sequence[Any]) -> None: ...

    def close(self) -> None: ...


class CsvTable:
    """A CSV file: a header, then one line for each row; times in ISO 8601, lists separated by semicolons."""

    def __init__(self, file: BinaryIO, columns: Sequence[TableColumn]) -> None:
        self._file = file
        self._columns = columns
        file.write(csv_lines([[column.name for column in columns]]))

    def write(self, rows: Sequence[Any]) -> None:
        self._file.write(csv_lines([_cell(column, row) for column in self._columns] for row in rows))

    def close(self) -> None:
        """All rows are written."""


def _cell(column: TableColumn, row: Any) -> object:
    value: Any = column.value(row)
    if column.kind == "time":
        return iso_or_none(value)
    return "; ".join(value) if column.kind == "texts" else value


def _table_file(
    file: BinaryIO, format_: TableFormat, columns: Sequence[TableColumn], about: dict[str, str]
) -> TableFile:
    if format_ == "csv":
        return CsvTable(file, columns)
    from webstrata.lab.parquet_table import ParquetTable

    return ParquetTable(file, columns, about)


def _format_of(out: Path, chosen: TableFormat | None) -> TableFormat:
    """The format of a file. Raises UsageError if it cannot be told, or cannot be written."""
    endings: dict[str, TableFormat] = {".parquet": "parquet", ".csv": "csv"}
    is_stdout = str(out) == "-"
    found = chosen or ("csv" if is_stdout else endings.get(out.suffix.lower()))
    if found is None:
        raise UsageError(f"the format of {out} is not known. Let the name end in .parquet or .csv, or give --format.")
    if found == "parquet":
        if is_stdout:
            raise UsageError("Parquet cannot be written to stdout. Name a file, or give --format csv.")
        try:
            import webstrata.lab.parquet_table  # noqa: F401 - is the library there?
        except ImportError:
            raise UsageError(
                "Parquet needs pyarrow: `pip install 'webstrata[lab]'`. CSV needs nothing: name a file that ends in .csv."
            ) from None
    return found


def _write(
    node: Node,
    name: str,
    out: Path,
    chosen: TableFormat | None,
    columns: Sequence[TableColumn],
    batches: Batches,
    total: Callable[[Store], Any],
    *,
    as_json: bool,
) -> None:
    """Write a table and print its number of rows."""
    format_ = _format_of(out, chosen)
    about = {"software": node.software, "table": f"webstrata {name}", "created": iso(node.clock.now())}

    async def write(file: BinaryIO) -> int:
        table, rows = _table_file(file, format_, columns, about), 0
        async with node.store() as store:
            with progress_bar(f"writing {out.name}", await total(store), unit="rows") as on_progress:
                async for batch in batches(store):
                    table.write(batch)
                    rows += len(batch)
                    on_progress(len(batch))
        table.close()
        return rows

    with output_to(out) as file:
        rows = run_async(lambda: write(file))
    if str(out) == "-":
        return
    written = out.stat().st_size
    if as_json:
        print_json({"file": str(out), "format": format_, "rows": rows, "bytes": written})
    else:
        typer.echo(f"{counted(rows, 'row')}, {size(written)}: {out}")


def add_table_commands(app: typer.Typer) -> None:
    """Add the commands of the tables."""

    @app.command("visits")
    def visits(
        out: OutArgument,
        format_: FormatOption = None,
        since: SinceOption = None,
        until: UntilOption = None,
        tag: TagOption = None,
        host: HostOption = None,
        home: HomeOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Write a table of all visits, for research: Parquet or CSV."""
        _export_visits(open_node(home), "all", out, format_, since, until, tag, host, as_json=as_json)

    @app.command("changes")
    def changes(
        out: OutArgument,
        format_: FormatOption = None,
        since: SinceOption = None,
        until: UntilOption = None,
        tag: TagOption = None,
        host: HostOption = None,
        home: HomeOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Write a table of the changes that count, each with the last time at which the old version was seen: Parquet
        or CSV."""
        _export_visits(open_node(home), "changes", out, format_, since, until, tag, host, as_json=as_json)

    @app.command("forecasts")
    def forecasts(
        out: OutArgument,
        format_: FormatOption = None,
        tag: TagOption = None,
        host: HostOption = None,
        home: HomeOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Write a table of the active pages, each with the rate of its changes, the probability that it has changed, and
        its next visit: Parquet or CSV."""
        _export_forecasts(open_node(home), out, format_, tag, host, as_json=as_json)


def _export_visits(
    node: Node,
    which: Literal["all", "changes"],
    out: Path,
    format_: TableFormat | None,
    since: str | None,
    until: str | None,
    tag: str | None,
    host: str | None,
    *,
    as_json: bool,
) -> None:
    from webstrata.flows.exported_tables import CHANGE_COLUMNS, VISIT_COLUMNS, visit_batches

    now = node.clock.now()
    wanted = VisitFilter(
        which=which,
        since=None if since is None else instant_or_ago(since, now),
        until=None if until is None else instant_or_ago(until, now),
        tag=tag,
        host=host,
        requisites=True,
    )

    async def total(store: Store) -> int:
        return (await store.visit_log.count_listed(wanted))[0]

    name, columns = ("visits", VISIT_COLUMNS) if which == "all" else ("changes", CHANGE_COLUMNS)
    _write(node, name, out, format_, columns, lambda store: visit_batches(store, wanted), total, as_json=as_json)


def _export_forecasts(
    node: Node, out: Path, format_: TableFormat | None, tag: str | None, host: str | None, *, as_json: bool
) -> None:
    from webstrata.flows.exported_tables import FORECAST_COLUMNS, forecast_batches

    now, schedule = node.clock.now(), node.schedule()

    async def total(store: Store) -> int | None:
        is_part = tag is not None or host is not None
        return None if is_part else (await store.maintenance.totals(now)).pages

    def batches(store: Store) -> AsyncIterator[list[Any]]:
        return forecast_batches(store, schedule, node.settings.schedule.policy, now, tag=tag, host=host)

    _write(node, "forecasts", out, format_, FORECAST_COLUMNS, batches, total, as_json=as_json)
