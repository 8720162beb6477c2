"""`DataField`: one field of one version of data, as a hash, so that noise can be recognised field by field."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from webstrata.observe.sketch import hash64, sketch_of

MAX_FIELDS = 400
"""Fields of one body; further ones are combined in one field, which never becomes noise."""
MAX_ENTRIES = 1000
"""The same for feeds, calendars and archives, whose fields are their entries."""
REST = "\0 all the rest"
"""The name of the combined field."""
ENTRY = "entry:"
"""The beginning of the name of a field that is an entry: of a feed, a calendar or an archive."""

_MAX_STAMP_LENGTH = 80
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"  # ISO
    r"|(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)?.{0,9}"  # mail and HTTP
    r"|1\d{9}(?:\d{3})?(?:\.\d+)?"  # seconds or milliseconds since 1970
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z+/_=-]*[0-9])[A-Za-z0-9+/_=-]{16,}"  # a token
)


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
    sketch: int = 0
    """Sketch of the values, without their positions."""

    @property
    def excerpt(self) -> str:
        """The field for people: an entry by its title, other fields by their name and first value."""
        return self.example if self.name.startswith(ENTRY) else f"{self.name}: {self.example}"


def all_stamps(values: Iterable[str]) -> bool:
    """Whether all values are times or tokens."""
    return all(_STAMP.fullmatch(value[:_MAX_STAMP_LENGTH]) for value in values)


def entry_fields(entries: Iterable[tuple[str, bytes, str]]) -> list[DataField]:
    """The fields of data whose fields are entries, from (id, digest, text for people) of each.

    Ids that occur again are numbered.
    """
    seen: Counter[str] = Counter()
    fields = []
    for name, digest, text in entries:
        seen[name] += 1
        numbered = name if seen[name] == 1 else f"{name} #{seen[name]}"
        fields.append(
            DataField(ENTRY + numbered, hash64(digest), 1, stamps=False, example=text, sketch=sketch_of([digest]))
        )
    return limited(fields, MAX_ENTRIES)


def limited(fields: list[DataField], limit: int) -> list[DataField]:
    """At most `limit` fields: the last of them stands for the rest, if there is one."""
    if len(fields) <= limit:
        return fields
    rest = fields[limit - 1 :]
    content = "\0".join(f"{field.name}\0{field.value}" for field in rest).encode("utf-8", "replace")
    size = sum(field.size for field in rest)
    return [*fields[: limit - 1], DataField(REST, hash64(content), size, stamps=False, example=rest[0].example)]
