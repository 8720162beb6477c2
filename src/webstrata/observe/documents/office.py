"""The text of Word documents, OpenDocument texts and presentations, from their XML, in lines."""

from __future__ import annotations

import posixpath
import re
from xml.parsers import expat

from webstrata.observe.data import xml
from webstrata.observe.documents.container import ContainerError, ZipContainer
from webstrata.observe.documents.xml_lines import LineRules, XmlLines

_WORD = LineRules(
    text=frozenset({"t"}),
    lines=frozenset({"p"}),
    rows=frozenset({"tr"}),
    breaks=frozenset({"br", "cr"}),
    spaces=frozenset({"tab", "noBreakHyphen"}),
    skipped=frozenset({"pPr", "rPr", "sectPr", "tblPr", "moveFrom", "Fallback"}),
)
_SLIDE = _WORD._replace(spaces=frozenset(), skipped=frozenset({"rPr", "pPr", "endParaRPr", "Fallback"}))
_OPEN_DOCUMENT = LineRules(
    text=frozenset({"p", "h"}),
    lines=frozenset({"p", "h"}),
    rows=frozenset({"table-row"}),
    breaks=frozenset({"line-break"}),
    spaces=frozenset({"tab", "s"}),
    skipped=frozenset({"tracked-changes", "automatic-styles", "sequence-decls", "page-number", "page-count"}),
)
_WORD_PARTS = re.compile(r"word/(?:footnotes|endnotes|header\d*|footer\d*)\.xml")
"""Parts of a Word document whose text is shown after that of the main part."""


def office_text(body: bytes, name: str) -> str:
    """The text of a document of the format `docx`, `pptx`, `odt` or `odp`, in lines. Raises ContainerError."""
    container = ZipContainer(body)
    if name == "docx":
        parts = ["word/document.xml", *(part for part in container.names if _WORD_PARTS.fullmatch(part))]
        return _joined(container, parts, _WORD)
    if name == "pptx":
        return _joined(container, _slides(container), _SLIDE)
    return _joined(container, ["content.xml"], _OPEN_DOCUMENT)


def _joined(container: ZipContainer, parts: list[str], rules: LineRules) -> str:
    return "\n".join(line for part in parts for line in XmlLines(rules).read(container.read(part)))


def _slides(container: ZipContainer) -> list[str]:
    """The slides in the order of the presentation."""
    presentation = "ppt/presentation.xml"
    targets = related_parts(container, presentation)
    ids = [
        attributes.get(RELATION_ID, "")
        for name, attributes in elements(container.read(presentation))
        if name == "sldId"
    ]
    return [targets[number] for number in ids if targets.get(number, "") in container]


RELATION_ID = "id of a related part"
"""The attribute `r:id`, whatever its namespace: transitional and strict files differ."""
_RELATIONS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships id",
    "http://purl.oclc.org/ooxml/officeDocument/relationships id",
)


def related_parts(container: ZipContainer, part: str) -> dict[str, str]:
    """The parts that a part of an Office Open XML file refers to, by the ids of the relations."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in container:
        return {}
    return {
        attributes.get("Id", ""): posixpath.normpath(posixpath.join(folder, attributes.get("Target", ""))).lstrip("/")
        for tag, attributes in elements(container.read(path))
        if tag == "Relationship" and attributes.get("TargetMode") != "External"
    }


def elements(part: bytes) -> list[tuple[str, dict[str, str]]]:
    """Local name and attributes of all elements of a small part. Raises ContainerError."""
    found: list[tuple[str, dict[str, str]]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        named = {RELATION_ID if key in _RELATIONS else key: value for key, value in attributes.items()}
        found.append((tag.rpartition(" ")[2], named))

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    problem = xml.parse_safely(part, parser)
    if problem is not None:
        raise ContainerError(problem)
    return found
