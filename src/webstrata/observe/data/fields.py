"""The fields of data and a hash of each, so that fields that change at every visit can be recognised as noise.

| data | a field is |
|---|---|
| JSON | a path, with all members of a list together: `items[].viewed` |
| tables | a column |
| graphs | a predicate |
| XML | the path of an element, or of an attribute: `/feed/entry/@id` |
| sitemaps | the addresses; the times |

Every value belongs to exactly one field and is hashed with its position there (the index in the list, the row's key,
the triple's other terms): if the hashes of all fields are equal, the data are equal, except for blank nodes, which are
not distinguished.
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
from webstrata.observe.data.sitemap import parse_sitemap

MAX_BYTES = 20_000_000
"""Larger bodies have no fields."""
MAX_FIELDS = 400
"""Fields of one body; further ones are combined in one field, which never becomes noise."""
_MAX_VALUES = 1_000_000
_CHUNK = 4096
"""Rows of a table that are processed together, column by column."""
_REST = "\0 all the rest"

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"  # ISO
    r"|(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)?.{0,9}"  # mail and HTTP
    r"|1\d{9}(?:\d{3})?(?:\.\d+)?"  # seconds or milliseconds since 1970
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z+/_=-]*[0-9])[A-Za-z0-9+/_=-]{16,}"  # a token
)
_BLANK = re.compile(r"_:[^\s<>()]+")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


class FieldValues(NamedTuple):
    """Values of one field, with the position of each."""

    name: str
    positions: Sequence[str]
    values: Sequence[str]


class DataField(NamedTuple):
    """One field of one version of the data."""

    name: str
    value: int
    """64-bit hash of all values and their positions."""
    size: int
    """The number of values."""
    stamps: bool
    """Whether all values are times or tokens."""
    example: str


def data_fields(
    body: bytes, kind: str, media_type: str, charset: str | None, url: str, *, keyed: bool = True
) -> list[DataField]:
    """The fields of a body whose data are of a kind (`DataDigest.kind`), sorted by name. Never raises.

    Empty if the kind has no fields. `keyed`: the first column identifies the rows of a table if it is a key.
    """
    reader = _READERS.get(kind)
    if reader is None or len(body) > MAX_BYTES:
        return []
    builders: dict[str, _FieldBuilder] = {}
    count = 0
    try:
        for name, positions, values in reader(body, media_type, charset, url, keyed):
            count += len(values)
            if count > _MAX_VALUES:
                return []
            builder = builders.get(name)
            if builder is None:
                builder = builders.setdefault(name if len(builders) < MAX_FIELDS - 1 else _REST, _FieldBuilder())
            builder.add(name, positions, values)
    except (ValueError, OverflowError, RecursionError):  # an invalid date, or too deep nesting
        return []
    return [builder.field(name) for name, builder in sorted(builders.items())]


class _FieldBuilder:
    def __init__(self) -> None:
        self._hash = blake2b(digest_size=8)
        self._count = 0
        self._stamps = True
        self._example = ""

    def add(self, name: str, positions: Sequence[str], values: Sequence[str]) -> None:
        text = "".join([f"{name}\0{at}\0{value}\0" for at, value in zip(positions, values, strict=True)])
        self._hash.update(text.encode("utf-8", "replace"))
        self._count += len(values)
        self._example = self._example or next(filter(None, values), "")
        self._stamps = self._stamps and all(_STAMP.fullmatch(value[:80]) for value in values)

    def field(self, name: str) -> DataField:
        stamps = self._stamps and name != _REST
        return DataField(name, int.from_bytes(self._hash.digest(), "little"), self._count, stamps, self._example)


_FieldReader = Callable[[bytes, str, str | None, str, bool], Iterator[FieldValues]]


def _json(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    text = json_text(body, charset)
    try:
        document = standard_json.loads(text)
    except ValueError:
        document = [standard_json.loads(line) for line in text.split("\n") if line.strip()]
    return _leaves(document, "", "")


def _leaves(value: Any, name: str, position: str) -> Iterator[FieldValues]:
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _leaves(value[key], f"{name}.{key}" if name else key, f"{position}.{key}")
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _leaves(item, f"{name}[]", f"{position}[{number}]")
    else:
        text = value if isinstance(value, str) else standard_json.dumps(value)
        yield FieldValues(name or "$", (f"{position} {type(value).__name__}",), (text,))


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
        positions = [row[0] for row in chunk] if by_key else [str(start + number) for number in range(len(chunk))]
        widths = [len(row) for row in chunk]
        for index in range(max(widths)):
            name = columns[index] if index < len(columns) else f"column {index + 1}"
            if index < min(widths):
                yield FieldValues(name, positions, [row[index] for row in chunk])
            else:
                filled = [number for number, width in enumerate(widths) if width > index]
                yield FieldValues(
                    name, [positions[number] for number in filled], [chunk[number][index] for number in filled]
                )


def _graph(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    for line in sorted(_BLANK.sub("_:", line) for line in readable(body, media_type, charset, url).triples or ()):
        subject, predicate, rest = line.split(" ", 2)
        if subject.startswith("<<"):
            subject, predicate, rest = "", "a triple about triples", line
        literal = _LITERAL.match(rest)
        yield FieldValues(predicate, (f"{subject} {rest}",), (literal[1] if literal else rest.removesuffix(" ."),))


def _sitemap(body: bytes, media_type: str, charset: str | None, url: str, keyed: bool) -> Iterator[FieldValues]:
    for entry in sorted(parse_sitemap(body, url).entries, key=lambda entry: entry.url):
        yield FieldValues("loc", ("",), (entry.url,))
        if entry.lastmod is not None:
            yield FieldValues("lastmod", (entry.url,), (iso(entry.lastmod),))


class _XmlFieldHandlers:
    """Expat handlers that collect the text and the attributes of every element."""

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
    handlers = _XmlFieldHandlers()
    problem = xml.parse_safely(body, handlers.parser)
    return iter(handlers.values if problem is None else ())


_READERS: dict[str, _FieldReader] = {"json": _json, "table": _table, "graph": _graph, "sitemap": _sitemap, "xml": _xml}
