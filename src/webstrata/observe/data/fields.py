"""Data -> its places: what stands where, so that places which change at every visit can be told from the rest.

| data | a place is |
|---|---|
| JSON | a path, with all members of a list together: `items[].viewed` |
| tables | a column |
| graphs | a predicate |
| XML | the path of an element, or of an attribute: `/feed/entry/@id` |
| sitemaps | the addresses; the times |

All that the data say stands in exactly one place, together with where it stands there (the list's index, the row's key,
the triple's other terms): if every place is the same, so are the data. Only blank nodes are not told apart.
"""

from __future__ import annotations

import json as standard_json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple
from xml.parsers import expat

from webstrata.clock import iso
from webstrata.observe.data import xml
from webstrata.observe.data.json import json_text
from webstrata.observe.data.readable import readable
from webstrata.observe.data.sitemap import read_sitemap

MAX_BYTES = 20_000_000
"""Bytes; in larger bodies nothing is told apart."""
MAX_FIELDS = 400
"""Of one body; the rest is one place, which never becomes noise."""
_MOST_VALUES = 1_000_000
_CHUNK = 4096
"""Rows of a table whose cells are taken together, column by column."""
_REST = "\0 all the rest"

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"  # ISO
    r"|(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)?.{0,9}"  # as in mail and HTTP
    r"|1\d{9}(?:\d{3})?(?:\.\d+)?"  # seconds or milliseconds since 1970
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z+/_=-]*[0-9])[A-Za-z0-9+/_=-]{16,}"  # a token
)
_BLANK = re.compile(r"_:[^\s<>()]+")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


class FieldValues(NamedTuple):
    """Values of one place: where each stands there, and what it says."""

    place: str
    where: Sequence[str]
    says: Sequence[str]


class DataField(NamedTuple):
    """One place of one version."""

    name: str
    value: int
    """Hash of all that stands there, 64 bits."""
    size: int
    """How many values these are."""
    stamps: bool
    """All of them are times or tokens."""
    example: str


def data_fields(
    body: bytes, kind: str, media_type: str, charset: str | None, url: str, *, keyed: bool = True
) -> list[DataField]:
    """The places of data of a kind (`Data.kind`), by name; none where that kind has none. Never raises.

    `keyed`: rows of a table are known by the first column where it names them.
    """
    reader = _READERS.get(kind)
    if reader is None or len(body) > MAX_BYTES:
        return []
    made: dict[str, _PlaceBuilder] = {}
    count = 0
    try:
        for place, where, says in reader(body, media_type, charset, url, keyed):
            count += len(says)
            if count > _MOST_VALUES:
                return []
            one = made.get(place)
            if one is None:
                one = made.setdefault(place if len(made) < MAX_FIELDS - 1 else _REST, _PlaceBuilder())
            one.add(place, where, says)
    except (ValueError, OverflowError, RecursionError):  # what no calendar has, what no stack holds
        return []
    return [one.place(name) for name, one in sorted(made.items())]


class _PlaceBuilder:
    def __init__(self) -> None:
        self._hash = blake2b(digest_size=8)
        self._count = 0
        self._stamps = True
        self._example = ""

    def add(self, place: str, where: Sequence[str], says: Sequence[str]) -> None:
        text = "".join([f"{place}\0{at}\0{said}\0" for at, said in zip(where, says, strict=True)])
        self._hash.update(text.encode("utf-8", "replace"))
        self._count += len(says)
        self._example = self._example or next(filter(None, says), "")
        self._stamps = self._stamps and all(_STAMP.fullmatch(said[:80]) for said in says)

    def place(self, name: str) -> DataField:
        stamps = self._stamps and name != _REST
        return DataField(name, int.from_bytes(self._hash.digest(), "little"), self._count, stamps, self._example)


_Read = Callable[[bytes, str, str | None, str, bool], Iterator[FieldValues]]


def _json(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    text = json_text(body, charset)
    try:
        document = standard_json.loads(text)
    except ValueError:
        document = [standard_json.loads(line) for line in text.split("\n") if line.strip()]
    return _leaves(document, "", "")


def _leaves(value: Any, place: str, where: str) -> Iterator[FieldValues]:
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from _leaves(value[name], f"{place}.{name}" if place else name, f"{where}.{name}")
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            yield from _leaves(one, f"{place}[]", f"{where}[{number}]")
    else:
        says = value if isinstance(value, str) else standard_json.dumps(value)
        yield FieldValues(place or "$", (f"{where} {type(value).__name__}",), (says,))


def _table(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    rows = readable(body, media_type, charset, url).table or ()
    if not rows:
        return
    names = rows[0]
    columns = (
        names if all(names) and len(set(names)) == len(names) else tuple(f"column {i + 1}" for i in range(len(names)))
    )
    lines = rows[1:] if columns is names else rows
    keys = [row[0] if row else "" for row in lines]
    by_key = keyed and all(keys) and len(set(keys)) == len(keys)
    lines = tuple(sorted(lines)) if by_key else lines
    for start in range(0, len(lines), _CHUNK):
        chunk = lines[start : start + _CHUNK]
        where = [row[0] for row in chunk] if by_key else [str(start + number) for number in range(len(chunk))]
        widths = [len(row) for row in chunk]
        for place in range(max(widths)):
            name = columns[place] if place < len(columns) else f"column {place + 1}"
            if place < min(widths):
                yield FieldValues(name, where, [row[place] for row in chunk])
            else:
                filled = [number for number, width in enumerate(widths) if width > place]
                yield FieldValues(
                    name, [where[number] for number in filled], [chunk[number][place] for number in filled]
                )


def _graph(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    for line in sorted(_BLANK.sub("_:", line) for line in readable(body, media_type, charset, url).triples or ()):
        subject, predicate, rest = line.split(" ", 2)
        if subject.startswith("<<"):
            subject, predicate, rest = "", "a triple about triples", line
        literal = _LITERAL.match(rest)
        yield FieldValues(predicate, (f"{subject} {rest}",), (literal[1] if literal else rest.removesuffix(" ."),))


def _sitemap(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    for entry in sorted(read_sitemap(body, url).entries, key=lambda entry: entry.url):
        yield FieldValues("loc", ("",), (entry.url,))
        if entry.lastmod is not None:
            yield FieldValues("lastmod", (entry.url,), (iso(entry.lastmod),))


class _Elements:
    """Expat handlers: the text and the attributes of every element."""

    def __init__(self) -> None:
        self.values: list[FieldValues] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._paths = [""]
        self._number = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._number += 1
        if len(self._paths) > xml.MAX_DEPTH:
            raise xml.XmlRefusedError(f"nested deeper than {xml.MAX_DEPTH}")
        path = f"{self._paths[-1]}/{name.rpartition(' ')[2]}"
        self._paths.append(path)
        self.values.append(FieldValues(f"{path}/", (f"{self._number} {name}",), ("",)))
        self.values += [
            FieldValues(f"{path}/@{key.rpartition(' ')[2]}", (f"{self._number} {key}",), (value,))
            for key, value in sorted(attributes.items())
        ]

    def _end(self, name: str) -> None:
        self._paths.pop()

    def _text(self, text: str) -> None:
        if text.strip():
            self.values.append(FieldValues(self._paths[-1], (str(self._number),), (text.strip(),)))


def _xml(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    reader = _Elements()
    problem = xml.parse_safely(body, reader.parser)
    return iter(reader.values if problem is None else ())


_READERS: dict[str, _Read] = {"json": _json, "table": _table, "graph": _graph, "sitemap": _sitemap, "xml": _xml}
