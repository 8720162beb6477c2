"""`webstrata certificate`: what a capture proves, shown and checked."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.cli.session import JsonOption
from webstrata.errors import UsageError

app = typer.Typer(help="The certificate of a capture: show it, check it.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A WACZ file of a capture.")]


@app.command()
def show(file: FileArgument, as_json: JsonOption = False) -> None:
    """What the certificate says. Nothing is checked: `verify` does that."""
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
        str | None, typer.Option("--key", metavar="FINGERPRINT", help="The key that must have signed.")
    ] = None,
    authority: Annotated[
        list[Path] | None,
        typer.Option("--authority", metavar="PEM", help="Root certificate that a time stamp must lead back to."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check everything that a certificate says against the WACZ that holds it. Exit 1 if anything fails."""
    from webstrata.flows.capture.verify import verify as faults_of
    from webstrata.node import package

    envelope = _envelope(file)
    with package(file) as evidence:
        faults = faults_of(envelope, evidence, key=key, authorities=[path.read_bytes() for path in authority or ()])
    if as_json:
        told = [{"where": fault.where, "what": fault.what} for fault in faults]
        print_json({"file": str(file), "valid": not faults, "faults": told, "counts": _counts(envelope)})
    else:
        for fault in faults:
            typer.echo(f"{printable(fault.where)}: {printable(fault.what)}")
        holds = _holds(envelope, authority_checked=bool(authority))
        typer.echo(f"{counted(len(faults), 'fault')}: do not rely on it." if faults else holds)
    if faults:
        raise typer.Exit(1)


@app.command()
def verifier(as_json: JsonOption = False) -> None:
    """Print the second verifier: one file that needs nothing of Webstrata, to be read and kept with captures."""
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
        raise UsageError(f"{file} holds no certificate. `webstrata capture URL --sharp` makes a WACZ with one.")
    try:
        envelope = json.loads(data)
        known = envelope["certificate"]["type"] == TYPE and isinstance(envelope["signature"], dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise UsageError(f"the certificate in {file} cannot be read: it was altered, or is of another kind.")
    return dict(envelope)


def _counts(envelope: dict[str, Any]) -> object:
    return envelope["certificate"].get("counts")


def _holds(envelope: dict[str, Any], *, authority_checked: bool) -> str:
    certificate = envelope["certificate"]
    counts, instant = certificate["counts"], certificate["instant"]
    when = f" as of {instant['from']} to {instant['to']}" if instant else ""
    whose = "" if authority_checked else " (by whom was not checked: --authority does)"
    stamp = f", time-stamped{whose}" if "timestamp" in envelope else ""
    return printable(
        f"It holds: {counts['sharp']} of {counts['pages']} pages sharp{when}; signed by "
        f"{envelope['signature']['fingerprint']}{stamp}."
    )


def _at(download: dict[str, Any] | None) -> str:
    return "-" if download is None else str(download["started"])[11:19]
