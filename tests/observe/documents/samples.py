"""Small real documents, written by hand or by the standard library."""

from __future__ import annotations

import zipfile
from io import BytesIO
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image

_OOXML = "http://schemas.openxmlformats.org"
_WORD = f"{_OOXML}/wordprocessingml/2006/main"
_SHEET = f"{_OOXML}/spreadsheetml/2006/main"
_RELATION = f"{_OOXML}/officeDocument/2006/relationships"


def pdf(pages: list[list[str]], *, created: str = "D:20260101000000Z", leading: int = 14) -> bytes:
    """A PDF with lines of text on each page. The time and the distance of lines do not change the text."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj 0 -{leading} Td" for line in lines)
        stream = f"BT /F1 12 Tf 50 740 Td {shown} ET" if lines else "50 50 100 100 re f"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects.append(f"<< /CreationDate ({created}) /Producer (writer {created}) >>")
    out = BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1"))
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
        f"startxref\n{start}\n%%EOF".encode()
    )
    return out.getvalue()


def zipped(members: dict[str, bytes | str], *, year: int = 2026, level: int = 6) -> bytes:
    """A ZIP file; the member `mimetype` is stored without compression, as EPUB and ODF require."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


def docx(paragraphs: list[str], *, year: int = 2026, editor: str = "A") -> bytes:
    """A Word document, with the name of its editor in the metadata."""
    lines = "".join(f"<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>{_runs(line)}</w:p>" for line in paragraphs)
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "docProps/core.xml": f"<core>{editor}</core>",
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{lines}</w:body></w:document>',
            "word/footnotes.xml": f'<w:footnotes xmlns:w="{_WORD}"><w:p>{_runs("a footnote")}</w:p></w:footnotes>',
        },
        year=year,
    )


def _runs(line: str) -> str:
    """The text in two runs, as Word divides it by formatting."""
    half = len(line) // 2
    return "".join(
        f'<w:r><w:rPr/><w:t xml:space="preserve">{escape(part)}</w:t></w:r>' for part in (line[:half], line[half:])
    )


def odt(paragraphs: list[str]) -> bytes:
    """An OpenDocument text."""
    lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in paragraphs)
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": '<o:document-content xmlns:o="urn:office" xmlns:text="urn:text">'
            f"<o:body><o:text>{lines}</o:text></o:body></o:document-content>",
        }
    )


def pptx(slides: list[list[str]]) -> bytes:
    """A presentation whose slides are stored in the opposite order of their numbers."""
    count = len(slides)
    members: dict[str, bytes | str] = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f'<p:presentation xmlns:p="urn:p" xmlns:r="{_RELATION}"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(count))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": "<Relationships>"
        + "".join(f'<Relationship Id="rId{n}" Target="slides/slide{count - n}.xml"/>' for n in range(count))
        + "</Relationships>",
    }
    for number, lines in enumerate(slides):
        shown = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
        members[f"ppt/slides/slide{count - number}.xml"] = f'<p:sld xmlns:p="urn:p" xmlns:a="urn:a">{shown}</p:sld>'
    return zipped(members)


def xlsx(sheets: dict[str, list[list[str | float]]], *, year: int = 2026) -> bytes:
    """An Excel workbook: texts are shared strings, numbers are stored as values."""
    shared: dict[str, int] = {}
    members: dict[str, bytes | str] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATION}"><sheets>'
        + "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": "<Relationships>"
        + "".join(
            f'<Relationship Id="rId{n}" Target="/xl/worksheets/sheet{n}.xml"/>' for n in range(1, len(sheets) + 1)
        )
        + "</Relationships>",
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = []
        for at, row in enumerate(rows, 1):
            cells = []
            for column, value in enumerate(row):
                place = f"{chr(65 + column)}{at}"
                if isinstance(value, str):
                    index = shared.setdefault(value, len(shared))
                    cells.append(f'<c r="{place}" t="s"><v>{index}</v></c>')
                else:
                    cells.append(f'<c r="{place}"><f>1+1</f><v>{value}</v></c>')
            lines.append(f'<row r="{at}">{"".join(cells)}</row>')
        members[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_SHEET}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        )
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    members["xl/sharedStrings.xml"] = f'<sst xmlns="{_SHEET}">{strings}</sst>'
    return zipped(members, year=year)


def ods(sheets: dict[str, list[list[str | float]]]) -> bytes:
    """An OpenDocument spreadsheet."""
    tables = []
    for name, rows in sheets.items():
        lines = []
        for row in rows:
            cells = [
                f"<t:table-cell><x:p>{escape(value)}</x:p></t:table-cell>"
                if isinstance(value, str)
                else f'<t:table-cell o:value-type="float" o:value="{value}"><x:p>{value:,.1f} €</x:p></t:table-cell>'
                for value in row
            ]
            blank = '<t:table-cell t:number-columns-repeated="16000"/>'
            lines.append(f"<t:table-row>{''.join(cells)}{blank}</t:table-row>")
        lines.append('<t:table-row t:number-rows-repeated="1048000"><t:table-cell/></t:table-row>')
        tables.append(f'<t:table t:name="{escape(name)}">{"".join(lines)}</t:table>')
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": '<o:document-content xmlns:o="urn:office" xmlns:t="urn:table" xmlns:x="urn:text">'
            f"<o:body><o:spreadsheet>{''.join(tables)}</o:spreadsheet></o:body></o:document-content>",
        }
    )


def epub(chapters: list[str]) -> bytes:
    """An EPUB whose manifest lists the chapters in the opposite of the reading order."""
    numbers = range(len(chapters))
    items = "".join(
        f'<item id="c{n}" href="text/{n}.xhtml" media-type="application/xhtml+xml"/>' for n in reversed(numbers)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OEBPS/book.opf"/></container>',
            "OEBPS/book.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{
                f"OEBPS/text/{n}.xhtml": f"<html><head><title>t</title></head><body><p>{text}</p></body></html>"
                for n, text in enumerate(chapters)
            },
        }
    )


def photograph(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A picture with soft areas, edges and fine grain, like a photograph."""
    random = np.random.default_rng(seed)
    width, height = size
    levels = np.zeros((height, width, 3))
    for cells, weight in ((4, 110.0), (16, 50.0), (64, 30.0)):
        coarse = Image.fromarray(random.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        levels += (np.asarray(coarse.resize(size, Image.Resampling.BICUBIC), dtype=np.float64) - 127.5) * weight / 127.5
    for _ in range(6):
        left, top = random.integers(0, width // 2), random.integers(0, height // 2)
        levels[
            top : top + random.integers(height // 8, height // 3), left : left + random.integers(width // 8, width // 3)
        ] += random.integers(-60, 60, 3)
    levels += random.normal(0, 4, levels.shape)
    return Image.fromarray(np.clip(levels + 127.5, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, name: str = "PNG", **options: object) -> bytes:
    """The image as a file."""
    out = BytesIO()
    image.save(out, name, **options)
    return out.getvalue()


def calendar(events: list[str], *, stamp: str = "20260101T000000Z", product: str = "A") -> bytes:
    """A calendar of events, given by their properties, with the time of generation in each."""
    shown = "".join(f"BEGIN:VEVENT\r\nDTSTAMP:{stamp}\r\n{event}\r\nEND:VEVENT\r\n" for event in events)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:{product}\r\n{shown}END:VCALENDAR\r\n".encode()
