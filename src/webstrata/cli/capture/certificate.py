"""`webstrata certificate`: shows and verifies the certificate of a capture."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.capture.report import command as report
from webstrata.cli.options import JsonOption
from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.errors import UsageError

app = typer.Typer(help="Show and verify the certificate of a capture.", no_args_is_help=True)
app.command("report")(report)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A WACZ file of a capture.")]


@app.command()
def show(file: FileArgument, as_json: JsonOption = False) -> None:
    """Show a certificate. It is not checked; use `verify` for that."""
    envelope = _envelope(file)
    if as_json:
        print_json(envelope)
        return
    certificate = envelope["certificate"]
    counts, instant = certificate["counts"], certificate["instant"]
    typer.echo(f"capture    {printable(certificate['capture'])}, by {printable(certificate['software'])}")
    typer.echo(f"pages      {counts['sharp']} sharp, {counts['blurred']} blurred, {counts['unreachable']} unreachable")
    typer.echo(f"expected   {printable(counts['expected_sharp'])} sharp")
    typer.echo(
        f"as of      {printable(instant['from'])} to {printable(instant['to'])}" if instant else "as of      no instant"
    )
    typer.echo(f"signed by  {printable(envelope['signature']['fingerprint'])}")
    print_table(
        ("verdict", "visit", "revisit", "page"),
        ((page["verdict"], _at(page["visit"]), _at(page["revisit"]), page["url"]) for page in certificate["pages"]),
    )


@app.command()
def verify(
    file: FileArgument,
    key: Annotated[
        str | None, typer.Option("--key", metavar="FINGERPRINT", help="Fingerprint of the key that must have signed.")
    ] = None,
    authority: Annotated[
        list[Path] | None,
        typer.Option("--authority", metavar="PEM", help="Root certificate at the end of a time stamp's chain."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify every statement of a certificate against its WACZ file. Exit code 1 if one is wrong."""
    from webstrata.flows.capture.verify import verify as faults_of
    from webstrata.node import package

    envelope = _envelope(file)
    with package(file) as evidence:
        faults = faults_of(envelope, evidence, key=key, authorities=[path.read_bytes() for path in authority or ()])
    if as_json:
        counts = envelope["certificate"].get("counts")
        found = [{"where": fault.where, "what": fault.what} for fault in faults]
        print_json({"file": str(file), "valid": not faults, "faults": found, "counts": counts})
    else:
        for fault in faults:
            typer.echo(f"{printable(fault.where)}: {printable(fault.what)}")
        message = _valid_message(envelope, authority_checked=bool(authority))
        typer.echo(f"{counted(len(faults), 'fault')}: the certificate is not valid." if faults else message)
    if faults:
        raise typer.Exit(1)


@app.command()
def verifier(as_json: JsonOption = False) -> None:
    """Print the second verifier: a Python program without Webstrata code, to be stored with captures."""
    program = resources.files("webstrata.verifier").joinpath("verify_capture.py")
    text = program.read_text(encoding="utf-8")
    if as_json:
        print_json({"file": program.name, "text": text})
    else:
        typer.echo(text, nl=False)


def _envelope(file: Path) -> dict[str, Any]:
    from webstrata.node import package
    from webstrata.sharp.proof.certificate import TYPE

    with package(file) as evidence:
        data = evidence.certificate()
    if data is None:
        raise UsageError(f"{file} contains no certificate. `webstrata capture URL --sharp` makes a WACZ with one.")
    try:
        envelope = json.loads(data)
        known = envelope["certificate"]["type"] == TYPE and isinstance(envelope["signature"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise UsageError(f"the certificate in {file} cannot be parsed: it was altered, or has another type.")
    return dict(envelope)


def _valid_message(envelope: dict[str, Any], *, authority_checked: bool) -> str:
    certificate = envelope["certificate"]
    counts, instant = certificate["counts"], certificate["instant"]
    when = f" as of {instant['from']} to {instant['to']}" if instant else ""
    whose = "" if authority_checked else " (its authority was not checked: use --authority)"
    stamp = f", time-stamped{whose}" if "timestamp" in envelope else ""
    return printable(
        f"Valid: {counts['sharp']} of {counts['pages']} pages sharp{when}; signed by "
        f"{envelope['signature']['fingerprint']}{stamp}."
    )


def _at(download: dict[str, Any] | None) -> str:
    return "-" if download is None else str(download["started"])[11:19]
