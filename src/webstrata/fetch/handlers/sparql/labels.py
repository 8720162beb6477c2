"""Whether an endpoint's labels of blank nodes name the same node in every answer.

Many endpoints name blank nodes anew in each answer: at random, or by counting (`b0`, `b1`, …). Counters deceive: a row
that is asked for again may well come back with the same labels, so that this alone proves nothing. What proves it: two
rows of the same shape and different labels, each asked for alone. Whoever names by what stands in the answer gives both
the same labels, and one of them is not what it was before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]
Shape = tuple[int, ...]
"""Blank nodes of a row in order, each by its first place among them: (0, 1) two, (0, 0) the same one twice."""
Placed = tuple[int, Row]
"""A row, and where it stands in the whole dataset."""


class BlankNodeLabels:
    """What the pages of a dataset showed of its blank nodes."""

    def __init__(self) -> None:
        self._pages = 0
        self._first: dict[Shape, Placed] = {}
        self._pair: tuple[Placed, Placed] | None = None

    @property
    def matter(self) -> bool:
        """Blank nodes stand on more than one page: whether they are the same ones depends on their labels."""
        return self._pages > 1

    @property
    def probes(self) -> tuple[Placed, Placed] | None:
        """Two rows that prove labels to last, if both come alone as they came before; none: there are no two."""
        return self._pair

    def page(self, offset: int, rows: Sequence[Row]) -> None:
        """The new rows of one answer, and where they begin."""
        any_blanks = False
        for number, row in enumerate(rows):
            labels = list(blanks(row))
            if not labels:
                continue
            any_blanks = True
            if self._pair is None:
                self._compare((offset + number, row), labels)
        self._pages += any_blanks

    def _compare(self, placed: Placed, labels: list[str]) -> None:
        first = self._first.setdefault(tuple([labels.index(label) for label in labels]), placed)
        if list(blanks(first[1])) != labels:
            self._pair = (first, placed)


def blanks(row: Sequence[Any]) -> Iterator[str]:
    """The labels of a row, in order, those inside triple terms too."""
    for term in row:
        if term is None:
            continue
        if term.kind == "bnode":
            yield term.value
        yield from blanks(term.inner)


def same_but_labels(one: Row, other: Row) -> bool:
    return _without_labels(one) == _without_labels(other)


def _without_labels(row: Sequence[Any]) -> list[Any]:
    made: list[Any] = []
    for term in row:
        if term is None or term.kind not in ("bnode", "triple"):
            made.append(term)
        else:
            made.append((term.kind, _without_labels(term.inner)))
    return made
