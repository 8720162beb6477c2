"""`webstrata diff` of documents that are not pages: text of PDF and Word files, sheets, pictures, unknown contents."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image

from tests.cli.conftest import Call
from tests.cli.history.conftest import VisitVersions
from tests.observe.documents import samples

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def _png(share: float) -> bytes:
    """A black picture in which this share of the rows is white."""
    pixels = np.zeros((480, 640, 3), dtype=np.uint8)
    pixels[: round(480 * share)] = 255
    return samples.encoded(Image.fromarray(pixels))


def test_pdf(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A PDF is compared by its text."""
    before = samples.pdf([["A report on rates", "The rate is 5 per cent"]])
    after = samples.pdf([["A report on rates", "The rate is 6 per cent"]], created="D:20270101000000Z")
    url = visit_versions("application/pdf", before, after)

    assert call("--home", home, "diff", url).text.splitlines()[-2:] == [
        "-The rate is 5 per cent",
        "+The rate is 6 per cent",
    ]
    assert "The rate is <ins>6</ins> per cent" in call("--home", home, "diff", url, "--html").text


def test_word(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A Word file is compared by its text."""
    url = visit_versions(WORD, samples.docx(["One", "Two old words"]), samples.docx(["One", "Two new words"]))

    assert "Two [-old-]{+new+} words" in call("--home", home, "diff", url, "--words").text


def test_sheets(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A spreadsheet is compared by sheets, rows and cells, with the names of columns."""
    before = samples.xlsx({"Rates": [["id", "rate"], ["a", 1], ["b", 2]], "Same": [["x"], ["1"]]})
    after = samples.xlsx({"Rates": [["id", "rate"], ["a", 1], ["b", 3], ["c", 4]], "Same": [["x"], ["1"]]})
    url = visit_versions(EXCEL, before, after)

    assert call("--home", home, "diff", url).text.splitlines() == [
        "@@ sheet Rates: 1 row added, 1 cell changed @@",
        " b rate: 2 → 3",
        " id | rate",
        "+c | 4",
    ]
    assert list(call("--home", home, "diff", url, "--json").json["sheets"]) == ["Rates"]
    assert "<h3>Sheet Rates</h3>" in call("--home", home, "diff", url, "--html").text


def test_picture(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A picture is described in one line, and both versions stand side by side in the HTML page."""
    url = visit_versions("image/png", _png(0.0), _png(0.12))

    text = call("--home", home, "diff", url).text
    html = call("--home", home, "diff", url, "--html").text
    binary = call("--home", home, "diff", url, "--json").json["binary"]

    assert re.fullmatch(r" PNG 640×480, [\d,]+ bytes to 640×480, [\d,]+ bytes; 12 % of pixels differ\n", text)
    assert text.strip() == binary["sentence"]
    assert 0.11 < binary["pixels"] < 0.13
    assert re.findall(r'<img src="data:image/([a-z]+);base64,', html) == ["png", "png"]
    assert "img-src data:" in html


def test_vector_graphics(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """SVG is shown as an image and as escaped source, never as markup of the page."""
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='9'><script>alert({0})</script></svg>"
    url = visit_versions("image/svg+xml", svg.format(8), svg.format(9))

    html = call("--home", home, "diff", url, "--html").text

    assert "SVG 8×9" in call("--home", home, "diff", url).text
    assert html.count('<img src="data:image/svg+xml;base64,') == 2
    assert "<svg" not in html
    assert "<script" not in html


def test_unknown_contents(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A content of unknown format is described by its size."""
    url = visit_versions("application/octet-stream", b"\x01\x00" * 50, b"\x01\x00" * 60)

    assert call("--home", home, "diff", url).text == " binary, 100 bytes to 120 bytes\n"
