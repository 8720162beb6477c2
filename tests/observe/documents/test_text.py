"""The text of documents: equal for equal texts in other files, and shown in lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents import samples
from webstrata.observe.documents.formats import DATA_FORMATS, TEXT_FORMATS
from webstrata.observe.documents.text import document_text, parsed_text

UNKNOWN = "application/octet-stream"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (samples.pdf([["First line", "second line"], ["next page"]]), "First line\nsecond line\n\nnext page"),
        (samples.docx(["One & two", "three"]), "One & two\nthree\na footnote"),
        (samples.odt(["One & two", "three"]), "One & two\nthree"),
        (samples.pptx([["Title", "point"], ["End"]]), "Title\npoint\nEnd"),
        (samples.epub(["It was", "the end"]), "It was\nthe end"),
        (samples.xlsx({"Prices": [["item", "price"], ["tea", 2.5]]}), "Prices\nitem\tprice\ntea\t2.5"),
        (samples.ods({"Prices": [["item", "price"], ["tea", 2.5]]}), "Prices\nitem\tprice\ntea\t2.5"),
        (samples.calendar(["UID:1\r\nSUMMARY:Tea\r\nDTSTART:20261117"]), "2026-11-17, Tea"),
        (samples.zipped({"a.txt": "abc"}), "a.txt, 3 bytes, ba7816bf8f01"),
    ],
)
def test_lines_of_documents(body: bytes, lines: str) -> None:
    """Every format is shown in lines; the format is found without a media type."""
    assert document_text(body, UNKNOWN) == lines


def test_rows_of_a_table_in_a_document() -> None:
    """The cells of a row are one line; text that was deleted or moved away is not shown."""
    document = (
        '<w:document xmlns:w="urn:w"><w:body><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>'
        "<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:del><w:r><w:delText>old</w:delText>"
        "</w:r></w:del><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:t>new</w:t><w:br/><w:t>line</w:t>"
        "</w:r></w:p></w:body></w:document>"
    )
    body = samples.zipped({"[Content_Types].xml": "", "word/document.xml": document})
    assert document_text(body, UNKNOWN) == "a\tb\nnew\nline"


@pytest.mark.parametrize(
    ("members", "note"),
    [
        ({"word/document.xml": "<a><b></a>"}, "not well-formed XML"),
        ({"word/other.xml": "<a/>"}, "no member"),
        ({"word/document.xml": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'}, "external"),
        ({"word/document.xml": b"<a>" + b" " * 70_000_000 + b"</a>"}, "decompress to more"),
        ({"word/document.xml": "<t>" * 1100 + "</t>" * 1100}, "nested deeper"),
    ],
)
def test_hostile_documents(members: dict[str, bytes | str], note: str) -> None:
    """Files that cannot be read, refer to other files or are too large have no text, with the reason."""
    parsed = parsed_text(samples.zipped(members), "docx")
    assert parsed.text == ""
    assert note in (parsed.note or "")


BODIES = st.sampled_from(
    [
        samples.pdf([["one line"], ["two"]]),
        samples.docx(["one"]),
        samples.xlsx({"a": [["x", 1.0]]}),
        samples.ods({"a": [["x", 1.0]]}),
        samples.epub(["one"]),
        samples.pptx([["one"]]),
        samples.calendar(["UID:1"]),
    ]
)
FORMATS = st.sampled_from(sorted(TEXT_FORMATS))


@given(BODIES, st.integers(0, 100), st.integers(0, 99), st.binary(max_size=20), FORMATS)
def test_damaged_documents(body: bytes, keep: int, at: int, inserted: bytes, name: str) -> None:
    """A document that was cut, or in which bytes were replaced, never raises in any parser."""
    cut = body[: len(body) * keep // 100]
    position = len(cut) * at // 100
    damaged = cut[:position] + inserted + cut[position + len(inserted) :]
    parsed = parsed_text(damaged, name)
    assert parsed.text or parsed.note or parsed.rendered
    assert document_text(damaged, UNKNOWN) is None or isinstance(document_text(damaged, UNKNOWN), str)


@given(st.binary(max_size=300), FORMATS)
def test_any_bytes(body: bytes, name: str) -> None:
    """Random bytes have no text in any format."""
    assert parsed_text(body, name).text == ""
    assert name not in DATA_FORMATS
