"""`webstrata certificate log`: the certificates of all captures, and the check of their chains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.cli.session import home_path, named_home, open_node
from webstrata.errors import UsageError
from webstrata.home import Home

if TYPE_CHECKING:
    from webstrata.sharp.proof.capture_log import ChainedPackage, ChainFailure, LogEntry

app = typer.Typer(help="List the certificates of all captures and check their chains.", invoke_without_command=True)


@app.callback()
def log(context: typer.Context, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the certificates of all captures, in the order in which they were issued."""
    if context.invoked_subcommand is not None:
        return
    entries = _entries(home)
    if as_json:
        print_json([msgspec.to_builtins(entry) for entry in entries])
        return
    rows = [(entry.issued, entry.site, entry.sequence, entry.certificate[:19], entry.file) for entry in entries]
    print_table(("issued", "site", "number", "certificate", "file"), rows)


@app.command()
def verify(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", show_default=False, help="WACZ files, or folders with some. Default: those of the home."
        ),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every link of the chains of certificates, the log and the files against one another.

    Exit code 1 if a link is broken. Files that are missing are reported only. Without a home, files are checked
    against one another.
    """
    from webstrata.sharp.proof.capture_log import checked_chains

    has_home = not files or Home(home_path(home)).settings_file.exists() or named_home(home) is not None
    entries = _entries(home) if has_home else []
    paths = _paths(files or [Home(home_path(home)).captures])
    packages, unreadable = _packages(paths)
    checked = checked_chains(entries, packages)
    failures = [*unreadable, *checked.failures]
    missing = [f"{entry.file} (number {entry.sequence} of {entry.site})" for entry in checked.missing]
    if as_json:
        print_json(
            {
                "valid": not failures,
                "sites": [{"site": site, "certificates": number} for site, number in checked.sites.items()],
                "files": len(packages),
                "missing": [msgspec.to_builtins(entry) for entry in checked.missing],
                "failures": [msgspec.to_builtins(failure) for failure in failures],
            }
        )
    else:
        for failure in failures:
            typer.echo(f"{printable(failure.file or 'log')}: {printable(failure.what)}")
        for name in missing:
            typer.echo(f"missing: {printable(name)}")
        kept = f"{counted(len(packages), 'file')} of {counted(len(checked.sites), 'site')}"
        end = f"{counted(len(failures), 'broken link')}." if failures else "every link is valid."
        typer.echo(f"{kept}, {len(missing)} missing: {end}")
    if failures:
        raise typer.Exit(1)


def _entries(home: Path | None) -> list[LogEntry]:
    from webstrata.sharp.proof.capture_log import parse_log

    return parse_log(open_node(home).capture_log())


def _paths(given: Sequence[Path]) -> list[Path]:
    paths: list[Path] = []
    for path in given:
        if path.is_dir():
            paths += sorted(path.glob("*.wacz"))
        elif path.exists():
            paths.append(path)
        elif path.suffix == ".wacz":
            raise UsageError(f"there is no file {path}. Give WACZ files, or a folder with some.")
    return list(dict.fromkeys(paths))


def _packages(paths: Sequence[Path]) -> tuple[list[ChainedPackage], list[ChainFailure]]:
    """The places that the packages state; a failure for each that states none."""
    from webstrata.node import chained_package
    from webstrata.sharp.proof.capture_log import ChainFailure

    packages, failures = [], []
    for path in paths:
        package = chained_package(path)
        if isinstance(package, str):
            failures.append(ChainFailure(file=path.name, what=package))
        else:
            packages.append(package)
    return packages, failures
