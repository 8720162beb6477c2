"""Hosts whose documents, archives and images are bombs, damaged, or lie about their size."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from tests.attacks.behaviour import Behaviour, body

_MB = 1_000_000
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ODT = "application/vnd.oasis.opendocument.text"
_TYPES = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def _zip(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _word_bomb() -> bytes:
    text = b"<w:p><w:r><w:t>text</w:t></w:r></w:p>" * 3 * _MB
    document = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' + text
    return _zip({"[Content_Types].xml": _TYPES, "word/document.xml": document + b"</w:body></w:document>"})


def _word_entities() -> bytes:
    entities = (
        b'<!DOCTYPE d [<!ENTITY a "laugh"><!ENTITY b "' + b"&a;" * 1000 + b'"><!ENTITY c "' + b"&b;" * 1000 + b'">]>'
    )
    document = entities + b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">&c;&c;'
    return _zip({"[Content_Types].xml": _TYPES, "word/document.xml": document + b"</w:document>"})


def _sheet_bomb() -> bytes:
    rows = b'<row><c t="inlineStr"><is><t>cell</t></is></c></row>' * 2 * _MB
    sheet = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>' + rows
    return _zip({"[Content_Types].xml": _TYPES, "xl/worksheets/sheet1.xml": sheet + b"</sheetData></worksheet>"})


def _open_document() -> bytes:
    return _zip(
        {"mimetype": _ODT.encode(), "content.xml": b"<office:document-content>" + b"<text:p>x</text:p>" * 4 * _MB}
    )


def _many_members() -> bytes:
    return _zip({f"m{n}": b"" for n in range(60_000)})


def _lying_member() -> bytes:
    """A member that says it has 5 bytes and has 100 MB."""
    archive = bytearray(_zip({"word/document.xml": b"\0" * 100 * _MB}))
    size = struct.pack("<I", 100 * _MB)
    while (place := archive.find(size)) >= 0:
        archive[place : place + 4] = struct.pack("<I", 5)
    return bytes(archive)


def _nested() -> bytes:
    content = b"\0" * 10 * _MB
    for depth in range(10):
        content = _zip({f"level{depth}-{n}.zip": content for n in range(3)})
    return content


def _cut_archive() -> bytes:
    return _word_entities()[:-40]


def _traversal() -> bytes:
    return _zip({"../../../../tmp/written-by-attack": b"x", "/etc/written-by-attack": b"x", "a\0b": b"x"})


def _pdf(objects: list[bytes]) -> bytes:
    parts, places = [b"%PDF-1.7\n"], []
    for number, content in enumerate(objects, 1):
        places.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = sum(map(len, parts))
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table))
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return b"".join(parts)


def _pdf_loop() -> bytes:
    """The list of pages contains itself."""
    return _pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1000000000 /Kids [2 0 R 2 0 R] >>"])


def _pdf_bomb() -> bytes:
    content = zlib.compress(b"BT /F1 12 Tf (text) Tj ET\n" * 4 * _MB, 9)
    stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    return _pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, stream])


def _png(width: int, height: int, data: bytes) -> bytes:
    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", data) + part(b"IEND", b"")


def _png_bomb() -> bytes:
    """12,000 by 12,000 transparent pixels: 576 MB if they are decoded."""
    return _png(12_000, 12_000, zlib.compress(b"\0" * (12_000 * 4 + 1) * 12_000, 1))


_PNG_LIE = _png(60_000, 60_000, zlib.compress(b"\0" * 1000))
_GIF_LIE = b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\xff\xff\xff\xff\0\x02"
_JPEG_LIE = (
    bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0001108ffffffff03012200021101031101") + b"\xff\xd9"
)
_TIFF_LIE = b"II*\0\x08\0\0\0\x02\0" + struct.pack("<HHII", 256, 4, 1, 2**31) + struct.pack("<HHII", 257, 4, 1, 2**31)

DOCUMENTS = (
    Behaviour("doc-word", "a text document of 110 MB", body(_word_bomb, kind=_WORD)),
    Behaviour("doc-entities", "a text document with entities", body(_word_entities, kind=_WORD)),
    Behaviour("doc-sheet", "a spreadsheet of two million rows", body(_sheet_bomb, kind=_SHEET)),
    Behaviour("doc-open", "an OpenDocument text of 70 MB", body(_open_document, kind=_ODT)),
    Behaviour("zip-members", "60,000 members", body(_many_members, kind="application/zip")),
    Behaviour("zip-lie", "a member that is longer than it says", body(_lying_member, kind=_WORD)),
    Behaviour("zip-nested", "archives within archives, 590 GB in all", body(_nested, kind="application/zip")),
    Behaviour("zip-cut", "an archive without its end", body(_cut_archive, kind=_WORD)),
    Behaviour("zip-names", "names that leave the folder", body(_traversal, kind="application/zip")),
    Behaviour(
        "pdf-junk",
        "junk after the first line of a PDF",
        body(b"%PDF-1.7\n" + bytes(range(256)) * 4000, kind="application/pdf"),
    ),
    Behaviour("pdf-loop", "a list of pages that contains itself", body(_pdf_loop, kind="application/pdf")),
    Behaviour("pdf-bomb", "a page of 100 MB", body(_pdf_bomb, kind="application/pdf")),
    Behaviour("image-bomb", "an image of 144 million pixels", body(_png_bomb, kind="image/png")),
    Behaviour("image-png-lie", "a PNG that says it has 3.6 billion pixels", body(_PNG_LIE, kind="image/png")),
    Behaviour("image-gif-lie", "a GIF that says it has 4.3 billion pixels", body(_GIF_LIE, kind="image/gif")),
    Behaviour("image-jpeg-lie", "a JPEG that says it has 4.3 billion pixels", body(_JPEG_LIE, kind="image/jpeg")),
    Behaviour("image-tiff-lie", "a TIFF that says it has 2^62 pixels", body(_TIFF_LIE, kind="image/tiff")),
)
