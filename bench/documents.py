"""Speed of the fingerprint of documents: CSV tables and the text of PDFs, compared with the parsing libraries alone.

The table has seven columns (numbers, times, words, and a quoted text in every twentieth row) and is digested together
with its fields, as for a changed version. The PDF has 200 pages of 3,000 characters. Both are made here by a seed.
"""

from __future__ import annotations

import csv
import random
from io import BytesIO, StringIO

import pypdfium2

from bench.figures import Figure, cpu_seconds
from webstrata.observe.page import observation_fields, observe

_ROWS, _ROWS_QUICK = 150_000, 10_000
_PAGES, _PAGES_QUICK = 200, 20
_MIN_MB_PER_S = 20.0
_MIN_PAGES_PER_S = 50.0
_URL = "https://example.org/document"


def run(quick: bool) -> list[Figure]:
    repeats = 1 if quick else 5
    table = _table(_ROWS_QUICK if quick else _ROWS)
    pages = _PAGES_QUICK if quick else _PAGES
    pdf = _pdf(pages)
    figures: list[Figure] = []
    megabytes = len(table) / 1e6
    ours = [_seconds(table, "text/csv; charset=utf-8") for _ in range(repeats)]
    alone = [cpu_seconds(lambda: sum(1 for _ in csv.reader(StringIO(table.decode(), newline="")))) for _ in ours]
    figures.append(
        Figure(
            bench="documents",
            name=f"CSV of {megabytes:.0f} MB, digest and fields",
            values=[megabytes / seconds for seconds in ours],
            unit="MB/s",
            at_least=_MIN_MB_PER_S,
        )
    )
    ratios = [reader / seconds for reader, seconds in zip(alone, ours, strict=True)]
    figures.append(Figure(bench="documents", name="csv.reader alone : digest and fields", values=ratios))
    ours = [_seconds(pdf, "application/pdf") for _ in range(repeats)]
    alone = [cpu_seconds(lambda: _pdf_text(pdf)) for _ in ours]
    figures.append(
        Figure(
            bench="documents",
            name=f"PDF of {pages} pages, fingerprint and runs",
            values=[pages / seconds for seconds in ours],
            unit="pages/s",
            at_least=_MIN_PAGES_PER_S,
        )
    )
    ratios = [reader / seconds for reader, seconds in zip(alone, ours, strict=True)]
    figures.append(Figure(bench="documents", name="pypdfium2 alone : fingerprint and runs", values=ratios))
    return figures


def _seconds(body: bytes, content_type: str) -> float:
    """CPU time of observing a body as a changed version."""
    lines = b""

    def observed() -> None:
        nonlocal lines
        lines = observation_fields(observe(body, content_type, _URL), b"\0" * 16).lines

    seconds = cpu_seconds(observed)
    assert lines, "the document must be parsed"
    return seconds


def _pdf_text(body: bytes) -> int:
    """The number of characters that the library alone finds."""
    document = pypdfium2.PdfDocument(body)
    return sum(len(page.get_textpage().get_text_range()) for page in document)


def _table(rows: int) -> bytes:
    luck = random.Random(1)
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "name", "city", "price", "count", "updated", "note"])
    for number in range(rows):
        writer.writerow(
            [
                number,
                f"Station {luck.randrange(9999)}",
                luck.choice(["Berlin", "Paris", "Oslo"]),
                f"{luck.random() * 100:.2f}",
                luck.randrange(1000),
                f"2026-11-{luck.randrange(1, 28):02d}T{luck.randrange(24):02d}:00:00Z",
                "plain text" if number % 20 else "a short, quoted note",
            ]
        )
    return out.getvalue().encode()


def _pdf(pages: int) -> bytes:
    """A PDF with 50 lines of 60 characters on each page."""
    luck = random.Random(2)
    words = ["".join(luck.choices("abcdefghijklmnopqrstuvwxyz", k=luck.randrange(2, 10))) for _ in range(2000)]
    document = pypdfium2.PdfDocument.new()
    font = pypdfium2.raw.FPDFText_LoadStandardFont(document, b"Helvetica")
    for _ in range(pages):
        page = document.new_page(612, 792)
        for line in range(50):
            text = " ".join(luck.choices(words, k=10))[:60]
            shown = pypdfium2.raw.FPDFPageObj_CreateTextObj(document, font, 10.0)
            pypdfium2.raw.FPDFText_SetText(shown, _wide(text))
            pypdfium2.raw.FPDFPageObj_Transform(shown, 1, 0, 0, 1, 50, 740 - 14 * line)
            pypdfium2.raw.FPDFPage_InsertObject(page, shown)
        page.gen_content()
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def _wide(text: str) -> pypdfium2.raw.FPDF_WIDESTRING:
    encoded = (text + "\0").encode("utf-16-le")
    return (pypdfium2.raw.FPDF_WCHAR * (len(encoded) // 2)).from_buffer_copy(encoded)
