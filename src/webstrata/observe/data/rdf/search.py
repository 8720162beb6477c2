"""The canonical form of a connected part of a graph whose nodes colours alone do not tell apart.

One node of a colour is made special, the colours are refined, and so on until every node has its own; of the forms
that all choices lead to, the smallest counts. Nodes that can change places without anyone noticing need one choice
only. What is tried depends on the graph alone, and all of it counts against a limit.
"""

from __future__ import annotations

from collections.abc import Iterable

from webstrata.observe.data.rdf.colours import Colouring, colour_of
from webstrata.observe.data.rdf.quads import Quad
from webstrata.observe.data.rdf.work_limit import TooHardError, WorkLimit


def part_form(quads: list[Quad], colours: dict[bytes, bytes], budget: WorkLimit) -> bytes:
    """Equal for two parts exactly if they are isomorphic, colours included. `colours` are stable."""
    try:
        return _Search(quads, budget).form(colours)
    except RecursionError:
        raise TooHardError("too many blank nodes that look alike") from None


class _Search:
    def __init__(self, quads: list[Quad], budget: WorkLimit) -> None:
        self._quads = quads
        self._budget = budget
        self._colouring = Colouring(quads, budget)
        self._about: dict[bytes, set[Quad]] = {}
        for quad in quads:
            for node in quad.nodes:
                self._about.setdefault(node, set()).add(quad)

    def form(self, colours: dict[bytes, bytes]) -> bytes:
        cell = _first_cell(colours)
        if not cell:
            self._budget.spend(len(self._quads))
            lines = sorted(quad.line([colours[node].hex().encode() for node in quad.nodes]) for quad in self._quads)
            return colour_of(b"\n".join(lines))
        return min(self._form_with(node, colours) for node in self._choices(cell))

    def _form_with(self, node: bytes, colours: dict[bytes, bytes]) -> bytes:
        colours = dict(colours)
        colours[node] = colour_of(b"special " + colours[node])
        self._colouring.refine(colours, [node])
        return self.form(colours)

    def _choices(self, cell: Iterable[bytes]) -> list[bytes]:
        """Nodes of one colour, but only one of those that can change places."""
        chosen: list[bytes] = []
        for node in cell:
            if not any(self._can_swap(node, other) for other in chosen):
                chosen.append(node)
        return chosen

    def _can_swap(self, one: bytes, other: bytes) -> bool:
        self._budget.spend(1)
        if len(self._about[one]) != len(self._about[other]):
            return False
        swap = {one: other, other: one}
        quads = self._about[one] | self._about[other]
        self._budget.spend(len(quads))
        return all(_renamed(quad, swap) in quads for quad in quads)


def _renamed(quad: Quad, swap: dict[bytes, bytes]) -> Quad:
    nodes = tuple(swap.get(node, node) for node in quad.nodes)
    return Quad(quad.pieces, nodes, quad.positions, quad.predicate)


def _first_cell(colours: dict[bytes, bytes]) -> list[bytes]:
    """The nodes of the first of the smallest colours that several share; none if each has its own."""
    cells: dict[bytes, list[bytes]] = {}
    for node, colour in colours.items():
        cells.setdefault(colour, []).append(node)
    shared = {colour: nodes for colour, nodes in cells.items() if len(nodes) > 1}
    return shared[min(shared, key=lambda colour: (len(shared[colour]), colour))] if shared else []
