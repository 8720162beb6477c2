"""The format of a document that is not a page: by its media type, by its first bytes and by the URL's extension.

Servers often send `application/octet-stream` or `application/zip` for office files. The members of a ZIP container
then tell the format.
"""

from __future__ import annotations

from urllib.parse import urlsplit

TEXT_FORMATS = frozenset({"pdf", "docx", "odt", "pptx", "odp", "epub"})
"""Compared by their text."""
SPREADSHEETS = frozenset({"xlsx", "ods"})
ARCHIVES = frozenset({"zip", "gzip", "tar"})
DATA_FORMATS = SPREADSHEETS | ARCHIVES | {"calendar", "svg"}
"""Compared by a data digest."""

_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

# Media types by the name of the format.
_TYPES = {
    "pdf": "application/pdf application/x-pdf",
    "docx": f"{_OOXML}wordprocessingml.document {_OOXML}wordprocessingml.template "
    "application/vnd.ms-word.document.macroenabled.12",
    "xlsx": f"{_OOXML}spreadsheetml.sheet {_OOXML}spreadsheetml.template "
    "application/vnd.ms-excel.sheet.macroenabled.12",
    "pptx": f"{_OOXML}presentationml.presentation {_OOXML}presentationml.slideshow "
    "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "odt": f"{_ODF}text {_ODF}text-template",
    "ods": f"{_ODF}spreadsheet {_ODF}spreadsheet-template",
    "odp": f"{_ODF}presentation {_ODF}presentation-template",
    "epub": "application/epub+zip",
    "image": "image/png image/apng image/jpeg image/jpg image/pjpeg image/gif image/webp image/bmp image/x-ms-bmp "
    "image/tiff image/avif image/x-icon image/vnd.microsoft.icon",
    "svg": "image/svg+xml",
    "calendar": "text/calendar application/ics text/x-vcalendar",
    "zip": "application/zip application/x-zip-compressed application/java-archive",
    "gzip": "application/gzip application/x-gzip application/x-compressed-tar application/x-tgz",
    "tar": "application/x-tar application/tar application/x-gtar application/x-ustar",
}
_BY_TYPE = {media_type: name for name, types in _TYPES.items() for media_type in types.split()}
ZIP_TYPES = {name: _TYPES[name].split()[0] for name in ("zip", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub")}
"""The media type of each format that is a ZIP container."""
_UNKNOWN_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
_BY_EXTENSION = {"ics": "calendar", "ical": "calendar", "svg": "svg", "tar": "tar"}
"""Formats whose first bytes do not always tell them, for unknown types and `text/plain`."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"BEGIN:VCALENDAR", "calendar"),
)
_TAR_MAGIC_AT = 257

_MIMETYPE_AT = 30
"""ODF and EPUB begin with a stored member of the name `mimetype`, whose header has 30 bytes."""
_OOXML_PARTS = ((b"word/document", "docx"), (b"xl/workbook", "xlsx"), (b"ppt/presentation", "pptx"))
_DIRECTORY_BYTES = 262_144
"""The names of the members are at the end of a ZIP file."""


def document_format(body: bytes, media_type: str, url: str = "") -> str:
    """The name of a document's format; empty if it is no document of these formats."""
    name = _BY_TYPE.get(media_type, "")
    if not name and media_type in _UNKNOWN_TYPES:
        name = _by_magic(body) or _BY_EXTENSION.get(extension(url), "")
    elif media_type == "text/plain":
        name = _BY_EXTENSION.get(extension(url), "")
    if name == "tar" and body.startswith(b"\x1f\x8b"):
        return "gzip"
    return zip_format(body) if name == "zip" else name


def _by_magic(body: bytes) -> str:
    for magic, name in _MAGIC:
        if body.startswith(magic):
            return name
    return "tar" if body[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar" else ""


def zip_format(body: bytes) -> str:
    """The format of a ZIP container: an office file, an EPUB, or `zip` for other archives."""
    if body[_MIMETYPE_AT : _MIMETYPE_AT + 8] == b"mimetype":
        start = body[_MIMETYPE_AT + 8 : _MIMETYPE_AT + 128]
        for media_type, name in _BY_TYPE.items():
            if name in ("odt", "ods", "odp", "epub") and start.startswith(media_type.encode()):
                return name
    end = body[-_DIRECTORY_BYTES:]
    if b"[Content_Types].xml" in end:
        for part, name in _OOXML_PARTS:
            if part in end:
                return name
    return "zip"


def extension(url: str) -> str:
    """The extension of the last segment of a URL's path, in lower case."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return path[path.rfind("/") + 1 :].rpartition(".")[2].lower()
