"""The report of a capture: one self-contained HTML page for readers, made from its certificate.

It needs no scripts and requests nothing. All values of the certificate come from outside and are escaped; its size is
limited, and it says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webstrata.sharp.proof.stated_certificate import StatedCertificate
from webstrata.sharp.report.sections import (
    ReportedSignature,
    checks,
    counts,
    policy,
    signature,
    stated_signature,
)
from webstrata.sharp.report.stated import stated
from webstrata.sharp.report.style import POLICY, SCRIPT, STYLE
from webstrata.sharp.report.tables import PageTables, link, rules, text, when
from webstrata.sharp.report.words import limits, pages, proof

_MAX_OTHERS = 1_000


def capture_report(certificate: dict[str, Any], signed: object, *, file: str, chart: str = "") -> str:
    """The page. `signed`: `signedData` of the package; `file`: its name; `chart`: an SVG image, if there is one.

    Raises `UsageError` if the certificate cannot be read.
    """
    capture = stated(certificate)
    return "".join(_pieces(capture, stated_signature(signed), file, chart))


def _pieces(capture: StatedCertificate, signed: ReportedSignature, file: str, chart: str) -> Iterator[str]:
    tables = PageTables(capture)
    yield _head(capture)
    yield f'<p class="proof{"" if capture.is_sharp_capture else " none"}">{text(proof(capture))}</p>\n'
    yield from _unfinished(capture)
    yield "<h2>What this does not prove</h2>\n<ul class=limits>\n"
    yield "".join(f"<li>{text(limit)}</li>\n" for limit in limits(capture, is_stamped=signed.is_stamped))
    yield "</ul>\n<h2>Verdicts</h2>\n"
    yield from counts(capture)
    if chart:
        yield f"<h2>Visits and revisits</h2>\n<figure>{chart}\n<figcaption>"
        yield "Each line is a page, from its visit to its revisit. The vertical line is the instant.</figcaption>"
        yield "</figure>\n"
    yield from _pages(capture, tables)
    yield from _files(capture, tables)
    yield from _others(capture)
    if tables.without_evidence or tables.left_out:
        yield f'<p class="note">{_omitted(tables, file)}</p>\n'
    yield "<h2>Rules in force</h2>\n<h3>Of the capture</h3>\n"
    yield policy(capture)
    written = list(rules(capture))
    yield "<h3>Of pages, word for word</h3>\n" + ("".join(written) or '<p class="note">No page has rules.</p>\n')
    yield f"<h3>The statement of the certificate</h3>\n<blockquote>{text(capture.statement)}</blockquote>\n"
    yield "<h2>Signature and package</h2>\n"
    yield signature(capture, signed)
    yield "<h2>How to check this</h2>\n"
    yield from checks(file, signed)
    yield f"<script>{SCRIPT}</script>\n</body>\n</html>\n"


def _head(capture: StatedCertificate) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{text(capture.title)}</title>
<style>
{STYLE}
</style>
</head>
<body>
<h1>{text(capture.title)}</h1>
<p class="note">Capture {text(capture.capture)} of {link(capture.main_page)}, certified {when(capture.issued)} UTC by \
{text(capture.software)}</p>
"""


def _unfinished(capture: StatedCertificate) -> Iterator[str]:
    gap = capture.unfinished
    if gap is None:
        return
    found = [f"{pages(gap.not_visited)} not visited", f"{pages(gap.not_revisited)} not revisited"]
    if gap.not_discovered is not None:
        found.append(f"about {pages(gap.not_discovered)} not discovered")
    yield f'<p class="alarm"><b>The capture was cut short:</b> {text(gap.why)}. {text(", ".join(found))}.</p>\n'


def _pages(capture: StatedCertificate, tables: PageTables) -> Iterator[str]:
    sharp = capture.counts.sharp
    if len(capture.pages) > 10:
        yield '<div class="filter" hidden><input type="search" placeholder="show only rows with these words" '
        yield 'aria-label="show only rows with these words"></div>\n'
    if any(page.verdict != "sharp" for page in capture.pages):
        yield f"<h2>Pages that are not sharp: {capture.counts.pages - sharp:,}</h2>\n"
        yield from tables.not_sharp()
    if any(page.verdict == "sharp" for page in capture.pages):
        yield f"<h2>Sharp pages: {sharp:,}</h2>\n"
        yield from tables.sharp()


def _files(capture: StatedCertificate, tables: PageTables) -> Iterator[str]:
    if capture.requisites:
        count = len(capture.requisites)
        yield f"<h2>Files that pages load: {count:,}</h2>\n<details{' open' if count <= 30 else ''}><summary>"
        yield "images, styles, scripts and their states at the instant</summary>\n"
        yield from tables.requisites()
        yield "</details>\n"


def _others(capture: StatedCertificate) -> Iterator[str]:
    if capture.others:
        items = "".join(f"<li>{link(entry.url)}</li>" for entry in capture.others[:_MAX_OTHERS])
        more = len(capture.others) - _MAX_OTHERS
        rest = f"<li>and {more:,} more</li>" if more > 0 else ""
        yield f"<details><summary>other requested addresses: {len(capture.others):,}</summary>"
        yield f"<ul>{items}{rest}</ul></details>\n"


def _omitted(tables: PageTables, file: str) -> str:
    found = []
    if tables.left_out:
        found.append(f"{tables.left_out:,} rows are left out")
    if tables.without_evidence:
        found.append(f"the requests of {tables.without_evidence:,} pages and files are not listed")
    return text(f"To keep this page small, {' and '.join(found)}. The certificate in {file} has all of them.")
