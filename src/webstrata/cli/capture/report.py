"""The report of a capture, one HTML page: `webstrata capture --report` and `webstrata certificate report`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import msgspec
import typer

from webstrata.cli.options import JsonOption
from webstrata.cli.output import print_json, size
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedPage


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A WACZ file of a capture.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", show_default=False, help="Output file.")],
    as_json: JsonOption = False,
) -> None:
    """Write what a certificate states as an HTML page for readers. It is not checked; use `verify` for that."""
    require_report(out)
    write_report(file, out)
    if as_json:
        print_json({"file": str(file), "report": str(out), "bytes": out.stat().st_size})
    else:
        typer.echo(f"{out}, {size(out.stat().st_size)}")


def require_report(out: Path) -> None:
    """Raise `UsageError` if the report cannot be written to this file."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out.name} is a report, an HTML page. End its name with .html.")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder for {out}. Create it, or choose another folder.")


def write_report(file: Path, out: Path) -> None:
    """Write the report of the capture in a WACZ file."""
    from webstrata.node import package
    from webstrata.sharp.report.page import capture_report
    from webstrata.sharp.report.stated import stated

    with package(file) as evidence:
        certificate = evidence.read("proof/certificate.json")
        digest = evidence.read("datapackage-digest.json")
    if certificate is None:
        raise UsageError(f"{file} contains no certificate. `webstrata capture URL --sharp` makes a WACZ with one.")
    document = _object(certificate, file)
    signed = _object(digest, file).get("signedData") if digest is not None else None
    page = capture_report(document, signed, file=file.name, chart=_chart(stated(document)))
    out.write_text(page, encoding="utf-8", errors="replace")


def _object(data: bytes, file: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as problem:
        raise UsageError(f"{file} is damaged: a part of it cannot be read as JSON ({problem}).") from problem


def _chart(capture: StatedCertificate) -> str:
    """The visit-revisit chart as an SVG element; empty if nothing was observed around an instant."""
    from webstrata.plots.visits import BLURRED, SHARP, SchedulePanel, VisitLine, draw_visits
    from webstrata.sharp.report.words import moment

    instant = capture.instant
    start, end = (moment(instant.start), moment(instant.end)) if instant is not None else (None, None)
    if start is None or end is None:
        return ""
    middle = start + (end - start) / 2
    spans = [(page, span) for page in capture.pages if (span := _span(page, middle)) is not None]
    if not spans:
        return ""
    reach_s = max(max(abs(first), abs(last)) for _, (first, last) in spans)
    unit_s, unit = (60.0, "minutes") if reach_s > 300 else (1.0, "seconds")
    lines = [
        VisitLine(_path(page.url), first / unit_s, last / unit_s, SHARP if page.verdict == "sharp" else BLURRED)
        for page, (first, last) in spans
    ]
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "visits.svg"
        draw_visits(picture, [SchedulePanel("", lines, unit)])
        drawn = picture.read_text(encoding="utf-8")
    return drawn[drawn.index("<svg") :]


def _span(page: StatedPage, middle: datetime) -> tuple[float, float] | None:
    """The start of the visit and the end of the revisit, in seconds from the instant."""
    from webstrata.sharp.report.words import moment

    around = [seen for index in (page.visit, page.revisit) if (seen := page.observation(index)) is not None]
    ends = (moment(around[0].started), moment(around[-1].ended)) if around else (None, None)
    if ends[0] is None or ends[1] is None:
        return None
    return (ends[0] - middle).total_seconds(), (ends[1] - middle).total_seconds()


def _path(url: str) -> str:
    """The path of a URL as the name of its line, without characters that are not allowed in SVG."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "?"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return "".join(character if character.isprintable() else "?" for character in path)
