"""`webstrata certificate`: shows and verifies the certificate of a capture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webstrata.cli.capture import chain_log, keys
from webstrata.cli.capture.report import command as report
from webstrata.cli.options import JsonOption
from webstrata.cli.output import counted, print_json, print_table, printable
from webstrata.errors import ArchiveError, UsageError
from webstrata.wording import agreeing

if TYPE_CHECKING:
    from webstrata.flows.verify.verification import Verification
    from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedPage

app = typer.Typer(help="Show and verify the certificate of a capture.", no_args_is_help=True)
app.add_typer(keys.app, name="keys")
app.add_typer(chain_log.app, name="log")
app.command("report")(report)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A WACZ file of a capture.")]
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_SHOWN_FAILURES = 50


@app.command()
def show(file: FileArgument, as_json: JsonOption = False) -> None:
    """Show a certificate. It is not checked; use `verify` for that."""
    import msgspec

    certificate, data = _certificate(file)
    if as_json:
        print_json(msgspec.json.decode(data))
        return
    typer.echo("NOT CHECKED: this is what the file says. `webstrata certificate verify` checks it.")
    for line in _summary(certificate):
        typer.echo(printable(line))
    print_table(
        ("verdict", "visit", "revisit", "page", "notes"),
        (
            (page.verdict, _at(page, page.visit), _at(page, page.revisit), page.url, _notes(page))
            for page in certificate.pages
        ),
    )


@app.command()
def verify(
    file: FileArgument,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="FINGERPRINT", help="Require that the key with this fingerprint has signed."),
    ] = None,
    trust: Annotated[
        Path | None,
        typer.Option(
            "--trust",
            metavar="FILE",
            help="Require that a key of this trust file has signed (`certificate keys show --trust` prints one).",
        ),
    ] = None,
    authority: Annotated[
        list[Path] | None,
        typer.Option(
            "--authority",
            metavar="PEM",
            help="Require that the chain of the time stamp ends in this root certificate (a PEM file).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify every statement of a certificate against its WACZ file. Exit code 1 if one is wrong."""
    from webstrata.flows.verify.signer_check import TrustOptions
    from webstrata.flows.verify.verification import refused
    from webstrata.flows.verify.verification import verify as verify_package
    from webstrata.node import package
    from webstrata.sharp.proof.trust import parse_trust

    options = TrustOptions(
        key=_fingerprint(key) if key is not None else None,
        keys=parse_trust(_read(trust)) if trust is not None else None,
        authorities=tuple(_read(path) for path in authority or ()),
    )
    _require(file)
    try:
        with package(file) as evidence:
            result = verify_package(evidence, options)
    except ArchiveError as problem:
        result = refused(str(problem))
    if as_json:
        print_json({"file": str(file)} | result.report())
    else:
        for line in _report(result):
            typer.echo(printable(line))
    if not result.is_valid:
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


def _certificate(file: Path) -> tuple[StatedCertificate, bytes]:
    """The certificate in a WACZ file, and its bytes."""
    from webstrata.flows.verify.document import DocumentError, certificate_document
    from webstrata.node import package

    _require(file)
    with package(file) as evidence:
        data = evidence.certificate()
    if data is None:
        raise UsageError(f"{file} contains no certificate. `webstrata capture URL --sharp` makes a WACZ with one.")
    try:
        return certificate_document(data), data
    except DocumentError as problem:
        raise UsageError(
            f"the certificate in {file} cannot be parsed: {problem}. It was altered, or another version wrote it."
        ) from None


def _summary(certificate: StatedCertificate) -> Iterator[str]:
    counts, instant = certificate.counts, certificate.instant
    yield f"capture    {certificate.capture}, by {certificate.software}, issued {certificate.issued}"
    yield f"site       {certificate.site}, certificate {certificate.sequence} of its chain"
    yield (
        f"pages      {counts.sharp} sharp, {counts.blurred} blurred, {counts.absent} absent, {counts.error} error, "
        f"{counts.unreachable} unreachable, {counts.unvisited} unvisited"
    )
    yield f"compared   by the layer {certificate.policy.layer!r}; sharp by layer: " + ", ".join(
        f"{layer} {number}" for layer, number in sorted(counts.sharp_by.items())
    )
    yield f"marks      {counts.cached} sharp pages from a cache, {counts.script_shells} script shells"
    yield f"with parts {', '.join(f'{number} {state}' for state, number in sorted(counts.composite.items()))}"
    yield f"expected   {counts.expected_sharp} sharp"
    yield f"as of      {instant.start} to {instant.end}" if instant is not None else "as of      no instant"
    if certificate.unfinished is not None:
        yield f"unfinished {certificate.unfinished.why}"


def _report(result: Verification) -> Iterator[str]:
    yield result.signer.text
    if result.signer.stamp_text:
        yield result.signer.stamp_text
    for failure in result.failures[:_SHOWN_FAILURES]:
        yield f"{failure.page or 'package'}: {failure.what}"
    if result.failures:
        rest = len(result.failures) - _SHOWN_FAILURES
        more = f" ({rest} more {agreeing(rest, 'is', 'are')} in --json)" if rest > 0 else ""
        yield f"NOT VALID: {counted(len(result.failures), 'failure')}{more}."
        return
    certificate = result.certificate
    if certificate is None:
        return
    counts, instant = certificate.counts, certificate.instant
    when = f", as of {instant.start} to {instant.end}" if instant is not None else ""
    yield f"Valid: {result.sharp} of {counted(counts.pages, 'page')} sharp by the layer {certificate.policy.layer!r}{when}."
    if counts.cached or counts.script_shells:
        cached = f"{counts.cached} {agreeing(counts.cached, 'was', 'were')} answered by a cache"
        shells = agreeing(counts.script_shells, "is a script shell", "are script shells")
        yield f"Of these, {cached} and {counts.script_shells} {shells}."


def _at(page: StatedPage, index: int | None) -> str:
    return page.observations[index].started[11:19] if index is not None and index < len(page.observations) else "-"


def _notes(page: StatedPage) -> str:
    notes = ["cached"] if page.cached else []
    notes += ["script shell"] if page.script_shell else []
    notes += [f"with parts {page.composite.verdict}"] if page.composite and page.composite.verdict != "sharp" else []
    return ", ".join(notes + ([page.why] if page.verdict != "sharp" else []))


def _fingerprint(text: str) -> str:
    plain = text.strip().lower()
    plain = plain if plain.startswith("sha256:") else f"sha256:{plain}"
    if not _FINGERPRINT.fullmatch(plain):
        raise UsageError("--key is not a fingerprint. Write it as sha256: and 64 hexadecimal digits.")
    return plain


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror or problem}. Check the path.") from None


def _require(file: Path) -> None:
    if not file.is_file():
        raise UsageError(f"there is no file {file}. Give a WACZ file of a capture.")
