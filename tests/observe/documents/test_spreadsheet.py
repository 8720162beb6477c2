"""Spreadsheets: rows of cells by sheet, the digest and the fields of columns, and hostile workbooks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.documents.samples import ods, xlsx, zipped
from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.readable import readable
from webstrata.observe.documents.container import ContainerError
from webstrata.observe.documents.formats import ZIP_TYPES
from webstrata.observe.documents.spreadsheet import sheets_of

Sheets = dict[str, list[list[str | float]]]
PRICES: Sheets = {"Prices": [["item", "price"], ["tea", 2.5], ["milk", 1.0]]}


def digest(body: bytes, name: str = "xlsx") -> str:
    data = data_digest(body, ZIP_TYPES[name], None, "")
    assert data is not None
    assert data.kind == "spreadsheet"
    assert data.digest is not None, data.note
    return data.digest


@pytest.mark.parametrize(("make", "name"), [(xlsx, "xlsx"), (ods, "ods")])
def test_rows_by_sheet(make, name: str) -> None:  # type: ignore[no-untyped-def]
    """The sheets with their names, and the values of their cells as stored."""
    (first, second) = sheets_of(make({**PRICES, "Empty": []}), name)
    assert first.name == "Prices"
    assert first.rows == [("item", "price"), ("tea", "2.5"), ("milk", "1.0")]
    assert second.rows == []


def test_what_counts() -> None:
    """The time of saving, the order of keyed rows and the notation of numbers do not count; a value and a name do."""
    same = [
        xlsx(PRICES),
        xlsx(PRICES, year=2001),
        xlsx({"Prices": [["item", "price"], ["milk", 1.0], ["tea", 2.5]]}),
        xlsx({"Prices": [["price", "item"], [2.5, "tea"], [1.0, "milk"]]}),
    ]
    assert len({digest(body) for body in same}) == 1
    other: list[Sheets] = [
        {"Prices": [["item", "price"], ["tea", 2.6], ["milk", 1.0]]},
        {"Costs": PRICES["Prices"]},
        {**PRICES, "More": [["a"]]},
    ]
    assert len({digest(same[0]), *(digest(xlsx(sheets)) for sheets in other)}) == 4
    assert digest(ods(PRICES), "ods") == digest(same[0])


def test_fields_are_columns_of_sheets() -> None:
    """Only the hash of the column that differs differs."""
    before = data_digest(xlsx(PRICES), ZIP_TYPES["xlsx"], None, "")
    after = data_digest(xlsx({"Prices": [["item", "price"], ["tea", 3.0], ["milk", 1.0]]}), ZIP_TYPES["xlsx"], None, "")
    assert before is not None
    assert after is not None
    assert before.read_fields is not None
    assert after.read_fields is not None
    fields = [{field.name: field.value for field in data.read_fields()} for data in (before, after) if data.read_fields]
    assert {name for name in fields[0] if fields[0][name] != fields[1][name]} == {"Prices!price"}


def test_rows_for_differences() -> None:
    """One sheet is a table of its rows; several have the name of the sheet in front of each row."""
    one = readable(xlsx(PRICES), ZIP_TYPES["xlsx"], None, "").table
    assert one is not None
    assert one[0] == ("item", "price")
    several = readable(xlsx({"A": [["x"]], "B": [["y", 1.0]]}), ZIP_TYPES["xlsx"], None, "").table
    assert several == (("sheet", "column 1", "column 2"), ("A", "x"), ("B", "y", "1.0"))


def workbook(sheet: str, shared: str = "") -> bytes:
    """A workbook whose only sheet has this XML in its data."""
    return zipped(
        {
            "[Content_Types].xml": "",
            "xl/workbook.xml": '<workbook xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships">'
            '<sheet name="s" r:id="1"/></workbook>',
            "xl/_rels/workbook.xml.rels": '<R><Relationship Id="1" Target="worksheets/s.xml"/></R>',
            "xl/worksheets/s.xml": f"<worksheet>{sheet}</worksheet>",
            "xl/sharedStrings.xml": f"<sst>{shared}</sst>",
        }
    )


def test_kinds_of_cells() -> None:
    """Shared and inline texts, formula results, booleans, cells without a reference and gaps."""
    sheet = (
        '<row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>in</t></is></c><c t="b"><v>1</v></c></row>'
        '<row><c r="C2" t="str"><f>A1</f><v>text</v></c><c r="E2"><v>7</v></c></row><row/>'
    )
    shared = "<si><r><t>sha</t></r><r><t>red</t></r><rPh><t>reading</t></rPh></si>"
    (found,) = sheets_of(workbook(sheet, shared), "xlsx")
    assert found.rows == [("shared", "in", "TRUE"), ("", "", "text", "", "7")]


@pytest.mark.parametrize(
    "body",
    [
        workbook('<row><c r="XFD1"><v>1</v></c></row>' * 200),
        workbook('<row><c r="ZZZZ1"><v>1</v></c></row>'),
        workbook('<row><c t="s"><v>0</v></c></row>' * 1000, f"<si><t>{'x' * 100_000}</t></si>"),
        workbook("<row>"),
        zipped({"xl/workbook.xml": "<a/>"}) + b"x" * 70_000,
    ],
    ids=["wide gaps", "columns", "one long text often", "broken", "trailing bytes"],
)
def test_hostile_workbooks(body: bytes) -> None:
    """Cells that fill the memory are refused with a note."""
    data = data_digest(body, ZIP_TYPES["xlsx"], None, "")
    assert data is not None
    assert data.digest is None
    assert data.note


def test_repeated_cells_are_limited() -> None:
    """An OpenDocument cell that is repeated a billion times is refused."""
    cell = '<table-cell number-columns-repeated="9999" value="1"/>'
    for repeats in ("5", "999999999"):
        content = f'<a><table name="s"><table-row number-rows-repeated="{repeats}">{cell}</table-row></table></a>'
        body = zipped({"mimetype": ZIP_TYPES["ods"], "content.xml": content})
        if repeats == "5":
            assert len(sheets_of(body, "ods")[0].rows) == 5
        else:
            with pytest.raises(ContainerError, match="cells"):
                sheets_of(body, "ods")


@given(st.lists(st.lists(st.text("ab 1.", max_size=4), max_size=4), max_size=5))
def test_both_formats_agree(rows: list[list[str]]) -> None:
    """The same cells have the same digest in both formats."""
    sheets: Sheets = {"s": [[" ".join(cell.split()) for cell in row] for row in rows]}
    found = [
        data_digest(body, ZIP_TYPES[name], None, "") for body, name in ((xlsx(sheets), "xlsx"), (ods(sheets), "ods"))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].digest == found[1].digest
