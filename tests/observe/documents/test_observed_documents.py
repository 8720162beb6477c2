"""Documents in the fingerprint: which layer they have, and that hostile bytes never raise."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents import samples
from webstrata.observe.documents.formats import ZIP_TYPES, document_format
from webstrata.observe.documents.summary import describe
from webstrata.observe.page import observation_fields, observe
from webstrata.records import Fingerprint, PageRules

URL = "https://example.org/document"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'

LAYERS = [
    (samples.pdf([["some text"]]), "application/pdf", "text", None),
    (samples.pdf([[]]), "application/pdf", "data", "pages"),
    (samples.docx(["some text"]), ZIP_TYPES["docx"], "text", None),
    (samples.docx(["some text"]), "application/zip", "text", None),
    (samples.odt(["some text"]), None, "text", None),
    (samples.pptx([["some text"]]), ZIP_TYPES["pptx"], "text", None),
    (samples.epub(["some text"]), ZIP_TYPES["epub"], "text", None),
    (samples.xlsx({"s": [["a"]]}), "application/octet-stream", "data", "spreadsheet"),
    (samples.ods({"s": [["a"]]}), ZIP_TYPES["ods"], "data", "spreadsheet"),
    (samples.calendar(["UID:1"]), "text/calendar", "data", "calendar"),
    (samples.zipped({"a": "b"}), "application/zip", "data", "archive"),
    (gzip.compress(b"a", mtime=0), "text/csv", "data", "archive"),
    (SVG, "image/svg+xml", "data", "svg"),
    (samples.encoded(samples.photograph(1, (64, 48))), "image/png", "picture", None),
]


@pytest.mark.parametrize(("body", "media_type", "layer", "kind"), LAYERS)
def test_layers(body: bytes, media_type: str | None, layer: str, kind: str | None) -> None:
    """Each document has exactly one layer besides its bytes; text has a simhash, data have fields or are pages."""
    found = observe(body, media_type, URL)
    has = {name for name in ("text", "data", "picture", "links", "parts") if getattr(found.fingerprint, name)}
    assert has == {layer}
    assert found.fingerprint.data_kind == kind
    assert (found.fingerprint.simhash is not None) == (layer == "text")
    assert bool(observation_fields(found).lines) == (layer == "text" or kind not in (None, "pages"))


def test_text_of_documents_for_differences_and_rules() -> None:
    """The text of a document is in lines, and rules about text apply to it."""
    body = samples.pdf([["Page of today", "12 visitors"]])
    assert observe(body, "application/pdf", URL).text == "Page of today\n12 visitors"
    rules = PageRules(ignore_text=("[0-9]+ visitors",))
    other = samples.pdf([["Page of today", "13 visitors"]])
    digests = [observe(each, "application/pdf", URL, rules).fingerprint.selected for each in (body, other)]
    assert digests[0] is not None
    assert digests[0] == digests[1]
    assert observe(samples.xlsx({"s": [["a", "b"]]}), ZIP_TYPES["xlsx"], URL).text == "s\na\tb"


def test_notes() -> None:
    """A document that cannot be read is compared by its bytes, with the reason."""
    for media_type in ("application/pdf", ZIP_TYPES["docx"], ZIP_TYPES["xlsx"], "image/png", "text/calendar"):
        found = observe(b"nothing of this kind", media_type, URL).fingerprint
        assert (found.text, found.data, found.picture) == (None, None, None)
        assert found.data_note


def fingerprint(text: str, rules: PageRules | None = None) -> Fingerprint:
    return observe(text.encode(), "text/plain", URL, rules).fingerprint


def test_indentation() -> None:
    """Indentation and the division into lines count only with the rule; spaces at the end of lines never do."""
    rules = PageRules(indentation=True)
    code = "if a:\n    b\n    c\n"
    for other in ("if a:\n    b\nc\n", "if a: b\n    c\n", "if a:\n\tb\n\tc\n"):
        assert fingerprint(code).text == fingerprint(other).text
        assert fingerprint(code, rules).text != fingerprint(other, rules).text
    assert fingerprint(code, rules).text == fingerprint("if a:  \r\n    b\r\n\r\n    c", rules).text
    assert observe(code.encode(), "text/plain", URL, rules).text == code.strip()
    runs = [observation_fields(observe(each.encode(), "text/plain", URL, rules)).lines for each in (code, "if a:\nb\n")]
    assert runs[0] != runs[1]


TYPES = st.sampled_from(
    [None, "application/pdf", *ZIP_TYPES.values(), "image/png", "image/svg+xml", "text/calendar", "application/x-tar"]
)


@given(st.sampled_from([row[0] for row in LAYERS]), TYPES, st.integers(0, 100), st.binary(max_size=16))
def test_any_bytes_of_any_type(body: bytes, media_type: str | None, keep: int, added: bytes) -> None:
    """Cut and extended documents, declared as any type, have a fingerprint, runs, a format and a summary."""
    damaged = body[: len(body) * keep // 100] + added
    found = observe(damaged, media_type, URL)
    assert found.fingerprint.size == len(damaged)
    assert len(observation_fields(found).excerpts) == 0
    assert isinstance(document_format(damaged, media_type or ""), str)
    assert describe(damaged, found.fingerprint.media_type)
