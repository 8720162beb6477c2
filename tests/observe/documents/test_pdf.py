"""PDF: text by page, regenerated documents, scans, and documents that cannot be read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents.samples import pdf
from webstrata.observe.documents import pdf as module
from webstrata.observe.documents.pdf import pdf_content, pdf_page_count

LINES = st.lists(st.text("abc XYZ019", min_size=1, max_size=12).map(str.strip).filter(bool), min_size=1, max_size=4)


@given(st.lists(LINES, min_size=1, max_size=4), st.integers(13, 30))
def test_a_regenerated_document_has_the_same_text(pages: list[list[str]], leading: int) -> None:
    """Another time of generation and another layout do not change the text, which is divided into pages."""
    first = pdf_content(pdf(pages))
    again = pdf_content(pdf(pages, created="D:20300101000000Z", leading=leading))
    assert first.pages == again.pages
    assert [page.split() for page in first.pages] == [" ".join(page).split() for page in pages]


def test_divided_words_are_joined() -> None:
    """A word that is divided at the end of a line is one word."""
    (page,) = pdf_content(pdf([["The docu-", "ment ends."]])).pages
    assert "".join(page.split()).replace("-", "") == "Thedocumentends."


def test_documents_without_text_are_rendered() -> None:
    """The pages of a scan have a digest: equal for a regenerated one, different for another picture."""
    scan, again, other = pdf_content(pdf([[]])), pdf_content(pdf([[]], created="x")), pdf_content(pdf([[], []]))
    drawn = pdf_content(pdf([[]]).replace(b"50 50 100 100", b"50 50 100 101"))
    assert scan.rendered is not None
    assert scan.rendered == again.rendered
    assert len({scan.rendered, other.rendered, drawn.rendered}) == 3
    assert scan.text == ""


def test_limits(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Documents beyond the limits have a note and nothing else."""
    body = pdf([["a"], ["b"], ["c"]])
    for name, value in (("MAX_PAGES", 2), ("MAX_TEXT_LENGTH", 2), ("MAX_BYTES", 100)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            content = pdf_content(body)
            assert (content.pages, content.rendered) == ((), None)
            assert content.note is not None
    with monkeypatch.context() as patch:
        patch.setattr(module, "MAX_RENDERED_PAGES", 1)
        assert pdf_content(pdf([[], []])).rendered is None


def test_documents_that_cannot_be_read() -> None:
    """Encrypted and broken documents have a note and no number of pages."""
    encrypted = pdf([["a"]]).replace(
        b"/Size",
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ("
        + b"o" * 32
        + b") /U ("
        + b"u" * 32
        + b") >> /ID [(a)(a)] /Size",
    )
    for body, note in ((encrypted, "encrypted"), (b"%PDF-1.7 nothing", "not a PDF"), (b"", "not a PDF")):
        assert (pdf_content(body).note or "").startswith(note)
        assert pdf_page_count(body) is None
    assert pdf_page_count(pdf([["a"], ["b"]])) == 2
