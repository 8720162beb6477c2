"""Lines of CDX files: fields in the order that the first line of the file names by letters.

` CDX N b a m s k r M S V g` is such a legend; its first character is what stands between fields. A file without a
legend has 7, 9, 10 or 11 fields, as servers and the common tools write them.
"""

from __future__ import annotations

from msgspec import Struct

from webstrata.history.index_row import IndexRow
from webstrata.wording import counted

LEGENDS = {7: "N b a m s k S", 9: "N b a m s k r V g", 10: "N b a m s k r M V g", 11: "N b a m s k r M S V g"}
"""The fields of lines without a legend, by their number."""
_COLUMNS = {"a": "url", "b": "timestamp", "m": "mime", "s": "status", "k": "digest", "c": "digest"}
"""Letters of the fields that are read. `c` is the old checksum."""
_MAX_FIELDS = 64


class CdxFormat(Struct, frozen=True):
    """What the fields of a line are."""

    delimiter: str
    places: dict[str, int]
    """Column -> number of its field."""
    fields: int

    def row(self, line: str) -> IndexRow | str:
        """The row of a line; a sentence if it is not such a line."""
        parts = line.split(self.delimiter)
        if len(parts) != self.fields:
            return f"{_fields(len(parts))} instead of {self.fields}"
        return IndexRow(**{name: parts[place] for name, place in self.places.items()})


def cdx_legend(line: str) -> CdxFormat | None:
    """The format that a legend defines; None if the line is no legend, or one without URL or date."""
    if line[1:5] != "CDX" + line[:1] or line[0].isalnum():
        return None
    return _format(line[0], line[5:].rstrip(line[0]).split(line[0]))


def _format(delimiter: str, letters: list[str]) -> CdxFormat | None:
    places: dict[str, int] = {}
    for place, letter in enumerate(letters[:_MAX_FIELDS]):
        if letter in _COLUMNS:
            places.setdefault(_COLUMNS[letter], place)
    if "k" in letters[:_MAX_FIELDS]:
        places["digest"] = letters.index("k")
    is_usable = {"url", "timestamp"} <= places.keys() and len(letters) <= _MAX_FIELDS
    return CdxFormat(delimiter, places, len(letters)) if is_usable else None


def _guessed_formats() -> dict[int, CdxFormat]:
    found = {number: _format(" ", legend.split(" ")) for number, legend in LEGENDS.items()}
    return {number: one for number, one in found.items() if one is not None}


_GUESSED = _guessed_formats()


def guessed_row(line: str) -> IndexRow | str:
    """The row of a line of a file without a legend."""
    known = _GUESSED.get(line.count(" ") + 1)
    return known.row(line) if known is not None else f"{_fields(line.count(' ') + 1)}, and the file has no legend"


def _fields(number: int) -> str:
    return counted(number, "field")
