"""Added and removed triples grouped by subject, with the old and the new value of each property side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

_XSD_TYPE = re.compile(r"\^\^<http://www\.w3\.org/2001/XMLSchema#(\w+)>$")
"""The datatype at the end of a literal; it is shown with the usual prefix."""


class PropertyChange(Struct, frozen=True, kw_only=True):
    """A property of a subject: a value that was removed, added, or replaced by another one."""

    name: str
    before: str | None = None
    after: str | None = None


class SubjectChange(Struct, frozen=True, kw_only=True):
    """The properties of one subject that differ."""

    subject: str
    properties: tuple[PropertyChange, ...]


def by_subject(added: Iterable[str], removed: Iterable[str]) -> list[SubjectChange]:
    """Group lines in N-Quads by subject, sorted. Old and new values of a property are paired in their order."""
    values: dict[str, dict[str, tuple[list[str], list[str]]]] = {}
    for side, lines in enumerate((removed, added)):
        for line in lines:
            subject, name, value = _split(line)
            values.setdefault(subject, {}).setdefault(name, ([], []))[side].append(value)
    return [
        SubjectChange(
            subject=subject,
            properties=tuple(
                change for name, (old, new) in sorted(properties.items()) for change in _paired(name, old, new)
            ),
        )
        for subject, properties in sorted(values.items())
    ]


def _split(line: str) -> tuple[str, str, str]:
    """Subject, property and the rest (value and graph) of a line, which has no spaces before the value."""
    subject, _, rest = line.rstrip("\n").removesuffix(".").rstrip(" ").partition(" ")
    name, _, value = rest.partition(" ")
    return subject, name, _XSD_TYPE.sub(r"^^xsd:\1", value)


def _paired(name: str, old: list[str], new: list[str]) -> list[PropertyChange]:
    common = min(len(old), len(new))
    paired = [PropertyChange(name=name, before=old[index], after=new[index]) for index in range(common)]
    paired += [PropertyChange(name=name, before=value) for value in old[common:]]
    return paired + [PropertyChange(name=name, after=value) for value in new[common:]]
