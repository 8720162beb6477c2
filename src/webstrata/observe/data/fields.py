"""The fields of data and a hash of each, so that fields that change at every visit can be recognised as noise.

| data | a field is |
|---|---|
| JSON | a path, with all members of a list together: `items[].viewed` |
| tables, spreadsheets | a column |
| graphs | a predicate |
| XML, SVG | the path of an element, or of an attribute: `/feed/entry/@id` |
| sitemaps | the addresses; the times |
| feeds, calendars, archives | an entry: `entry:` and its id, UID or name |

Every value belongs to exactly one field and is hashed with its position there (the index in the list, the row, the
triple's other terms): if the hashes of all fields are equal, the data are equal, except for blank nodes, which are not
distinguished.
"""

from __future__ import annotations

import json as standard_json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple
from xml.parsers import expat

from webstrata.clock import iso
from webstrata.observe.data import xml
from webstrata.observe.data.data_field import MAX_FIELDS, REST, DataField, all_stamps
from webstrata.observe.data.digest import DataDigest
from webstrata.observe.data.json import json_text
from webstrata.observe.data.readable import readable
from webstrata.observe.data.sitemap import parse_sitemap
from webstrata.observe.documents.svg import NOT_DRAWN
from webstrata.observe.sketch import sketch_of

MAX_BYTES = 20_000_000
"""Larger bodies have no fields."""
_MAX_VALUES = 1_000_000

_BLANK = re.compile(r"_:[^\s<>()]+")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


class FieldValues(NamedTuple):
    """Values of one field, with the position of each."""

    name: str
    positions: Sequence[str]
    values: Sequence[str]


def data_fields(data: DataDigest, body: bytes, media_type: str, charset: str | None, url: str) -> list[DataField]:
    """The fields of a body that has this digest, sorted by name, without those that the digest leaves out.

    Empty if the kind of data has no fields. The entries of feeds are sorted by time, the latest first. Never raises.
    """
    if data.digest is None:
        return []
    if data.read_fields is not None:
        return data.read_fields()
    fields = _read_fields(body, data.kind, media_type, charset, url)
    return [field for field in fields if field.name not in data.noise]


def _read_fields(body: bytes, kind: str, media_type: str, charset: str | None, url: str) -> list[DataField]:
    reader = _READERS.get(kind)
    if reader is None or len(body) > MAX_BYTES:
        return []
    builders: dict[str, _FieldBuilder] = {}
    count = 0
    try:
        for name, positions, values in reader(body, media_type, charset, url):
            count += len(values)
            if count > _MAX_VALUES:
                return []
            builder = builders.get(name)
            if builder is None:
                builder = builders.setdefault(name if len(builders) < MAX_FIELDS - 1 else REST, _FieldBuilder())
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
        self._sketch = 0

    def add(self, name: str, positions: Sequence[str], values: Sequence[str]) -> None:
        text = "".join([f"{name}\0{at}\0{value}\0" for at, value in zip(positions, values, strict=True)])
        self._hash.update(text.encode("utf-8", "replace"))
        self._count += len(values)
        self._example = self._example or next(filter(None, values), "")
        self._stamps = self._stamps and all_stamps(values)
        self._sketch ^= sketch_of([value.encode("utf-8", "replace") for value in values])

    def field(self, name: str) -> DataField:
        stamps = self._stamps and name != REST
        value = int.from_bytes(self._hash.digest(), "little")
        return DataField(name, value, self._count, stamps, self._example, self._sketch)


_FieldReader = Callable[[bytes, str, str | None, str], Iterator[FieldValues]]


def _json(body: bytes, media_type: str, charset: str | None, url: str) -> Iterator[FieldValues]:
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


def _graph(body: bytes, media_type: str, charset: str | None, url: str) -> Iterator[FieldValues]:
    for line in sorted(_BLANK.sub("_:", line) for line in readable(body, media_type, charset, url).triples or ()):
        subject, predicate, rest = line.split(" ", 2)
        if subject.startswith("<<"):
            subject, predicate, rest = "", "a triple about triples", line
        literal = _LITERAL.match(rest)
        yield FieldValues(predicate, (f"{subject} {rest}",), (literal[1] if literal else rest.removesuffix(" ."),))


def _sitemap(body: bytes, media_type: str, charset: str | None, url: str) -> Iterator[FieldValues]:
    for entry in sorted(parse_sitemap(body, url).entries, key=lambda entry: entry.url):
        yield FieldValues("loc", ("",), (entry.url,))
        if entry.lastmod is not None:
            yield FieldValues("lastmod", (entry.url,), (iso(entry.lastmod),))


class _XmlFieldHandlers:
    """Expat handlers that collect the text and the attributes of every element."""

    def __init__(self, ignored: xml.IgnoredMarkup) -> None:
        self.values: list[FieldValues] = []
        self._ignored = ignored
        self._ignored_depth = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._paths = [""]
        self._number = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._paths) + self._ignored_depth > xml.MAX_DEPTH:
            raise xml.XmlRefusedError(f"nested deeper than {xml.MAX_DEPTH}")
        if self._ignored_depth or self._ignored.element(name):
            self._ignored_depth += 1
            return
        self._number += 1
        path = f"{self._paths[-1]}/{name.rpartition(' ')[2]}"
        self._paths.append(path)
        self.values.append(FieldValues(f"{path}/", (f"{self._number} {name}",), ("",)))
        self.values += [
            FieldValues(f"{path}/@{key.rpartition(' ')[2]}", (f"{self._number} {key}",), (value,))
            for key, value in sorted(attributes.items())
            if not self._ignored.attribute(key)
        ]

    def _end(self, name: str) -> None:
        if self._ignored_depth:
            self._ignored_depth -= 1
        else:
            self._paths.pop()

    def _text(self, text: str) -> None:
        if text.strip() and not self._ignored_depth:
            self.values.append(FieldValues(self._paths[-1], (str(self._number),), (text.strip(),)))


def _xml(
    body: bytes, media_type: str, charset: str | None, url: str, *, ignored: xml.IgnoredMarkup
) -> Iterator[FieldValues]:
    handlers = _XmlFieldHandlers(ignored)
    problem = xml.parse_safely(body, handlers.parser)
    return iter(handlers.values if problem is None else ())


_READERS: dict[str, _FieldReader] = {
    "json": _json,
    "graph": _graph,
    "sitemap": _sitemap,
    "xml": partial(_xml, ignored=xml.NOTHING_IGNORED),
    "svg": partial(_xml, ignored=NOT_DRAWN),
}
