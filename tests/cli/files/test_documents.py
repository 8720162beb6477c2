"""`webstrata compare` and `fingerprint` with documents that are not pages."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.files.test_compare import compared
from tests.observe.documents import samples

DOCUMENTS: dict[str, tuple[bytes, bytes, bytes]] = {
    ".pdf": (samples.pdf([["one"]]), samples.pdf([["one"]], created="later"), samples.pdf([["two"]])),
    ".docx": (samples.docx(["one"]), samples.docx(["one"], year=2020, editor="B"), samples.docx(["two"])),
    ".xlsx": (samples.xlsx({"s": [["a"]]}), samples.xlsx({"s": [["a"]]}, year=2020), samples.xlsx({"s": [["b"]]})),
    ".ics": (samples.calendar(["UID:1"]), samples.calendar(["UID:1"], stamp="later"), samples.calendar(["UID:2"])),
    ".zip": (samples.zipped({"a": "1"}), samples.zipped({"a": "1"}, year=2020), samples.zipped({"a": "2"})),
    ".csv.gz": (gzip.compress(b"a", mtime=1), gzip.compress(b"a", mtime=2), gzip.compress(b"b", mtime=1)),
    ".svg": (b"<svg><g/></svg>", b"<svg> <g/> </svg>", b"<svg><p/></svg>"),
}


def test_rankings_and_source_code(tmp_path: Path, call: Call) -> None:
    """The order of rows and the indentation count on request."""
    ranking = ("name,points\na,2\nb,1\n", "name,points\nb,1\na,2\n")
    assert compared(tmp_path, call, "text/csv", *ranking)["changed"] is False
    assert compared(tmp_path, call, "text/csv", *ranking, "--ordered")["changed"] is True
    code = ("if a:\n  b\n  c\n", "if a:\n  b\nc\n")
    assert compared(tmp_path, call, "text/plain", *code)["changed"] is False
    assert compared(tmp_path, call, "text/plain", *code, "--indentation")["changed"] is True


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str, tmp_path: Path, call: Call) -> None:
    """A document that was made again is unchanged; one with another content is changed. Its name tells the type."""
    files = []
    for number, body in enumerate(DOCUMENTS[name]):
        files.append(tmp_path / f"{number}{name}")
        files[-1].write_bytes(body)

    again, other = (call("compare", files[0], file, "--json").json for file in files[1:])

    assert (again["changed"], again["kind"]) == (False, "markup")
    assert other["changed"] is True


def test_fingerprints_of_documents(tmp_path: Path, call: Call) -> None:
    """`fingerprint` shows the layer of a document: text, data or the signature of a picture."""
    bodies = {
        ".pdf": samples.pdf([["text"]]),
        ".zip": samples.zipped({"a": "b"}),
        ".jpg": samples.encoded(samples.photograph(1, (64, 48)), "JPEG"),
    }
    found = {}
    for ending, body in bodies.items():
        file = tmp_path / f"file{ending}"
        file.write_bytes(body)
        found[ending] = call("fingerprint", file, "--json").json
    assert found[".pdf"]["text"]
    assert (found[".zip"]["data_kind"], len(found[".zip"]["data"])) == ("archive", 64)
    assert found[".jpg"]["picture"].startswith("64x48:")
