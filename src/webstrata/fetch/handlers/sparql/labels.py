"""`BlankNodeLabels`: whether an endpoint uses the same labels for its blank nodes in every response.

Many endpoints assign new labels in each response: at random, or by counting (`b0`, `b1`, …). With counters a row that
is requested again may have the same labels by chance, so a single row proves nothing. The proof uses two rows of the
same shape with different labels, each requested alone: an endpoint that assigns labels per response gives both the
same labels, so one of them differs from its earlier labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]
Shape = tuple[int, ...]
"""The blank nodes of a row in order, each as the index of its first occurrence: (0, 1) two, (0, 0) one twice."""
IndexedRow = tuple[int, Row]
"""A row and its index in the dataset."""


class BlankNodeLabels:
    """The blank nodes on the pages of a dataset."""

    def __init__(self) -> None:
        self._pages = 0
        self._first: dict[Shape, IndexedRow] = {}
        self.probes: tuple[IndexedRow, IndexedRow] | None = None
        """Two rows that prove that labels are stable if both are returned unchanged; None if there are no such rows."""

    @property
    def matter(self) -> bool:
        """Whether more than one page has blank nodes, so that their identity depends on the labels."""
        return self._pages > 1

    def page(self, offset: int, rows: Sequence[Row]) -> None:
        """Add the new rows of a page; `offset` is the index of the first."""
        has_blanks = False
        for number, row in enumerate(rows):
            labels = list(blanks(row))
            if not labels:
                continue
            has_blanks = True
            if self.probes is None:
                self._compare((offset + number, row), labels)
        self._pages += has_blanks

    def _compare(self, indexed: IndexedRow, labels: list[str]) -> None:
        first = self._first.setdefault(tuple([labels.index(label) for label in labels]), indexed)
        if list(blanks(first[1])) != labels:
            self.probes = (first, indexed)


def blanks(row: Sequence[Any]) -> Iterator[str]:
    """The blank node labels of a row in order, including those in triple terms."""
    for term in row:
        if term is None:
            continue
        if term.kind == "bnode":
            yield term.value
        yield from blanks(term.inner)


def same_except_labels(row: Row, other: Row) -> bool:
    return _without_labels(row) == _without_labels(other)


def _without_labels(row: Sequence[Any]) -> list[Any]:
    terms: list[Any] = []
    for term in row:
        if term is None or term.kind not in ("bnode", "triple"):
            terms.append(term)
        else:
            terms.append((term.kind, _without_labels(term.inner)))
    return terms
