"""Colour refinement: gives two blank nodes different colours as soon as anything said about them differs.

A node whose neighbour got a new colour is looked at again, until nothing moves. Colours do not depend on labels or
order: isomorphic graphs get the same, with the same work, so that the limit on it stops both or neither. Nodes that
keep one colour may still not be interchangeable (`canon.py` settles that).

The canonical form of a connected part of a graph whose nodes colours alone do not tell apart.

One node of a colour is made special, the colours are refined, and so on until every node has its own; of the forms
that all choices lead to, the smallest counts. Nodes that can change places without anyone noticing need one choice
only. What is tried depends on the graph alone, and all of it counts against a limit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b

from webstrata.observe.data.rdf.quads import Quad
from webstrata.observe.data.rdf.rdfc import TooHardError, WorkLimit

_SIZE = 16

_View = tuple[bytes, tuple[bytes, ...]]
"""A quad as one of its nodes sees it: what it says and where the node stands in it, and the other nodes."""
_Form = tuple[tuple[bytes, ...], tuple[int, ...]]
"""What a quad says, and which of its places the same node takes."""


class Colouring:
    """The quads of a graph, prepared for looking at them many times. A quad of one node tells it nothing of others."""

    def __init__(self, quads: Iterable[Quad], budget: WorkLimit) -> None:
        self._budget = budget
        self._views: defaultdict[bytes, list[_View]] = defaultdict(list)
        self._kinds: dict[_Form, list[bytes]] = {}
        for quad in quads:
            nodes = quad.nodes
            if len(nodes) == 2 and nodes[0] != nodes[1]:  # nearly all
                one, other = nodes
                first, second = self._kinds_of((quad.pieces, (0, 1)))
                self._views[one].append((first, (other,)))
                self._views[other].append((second, (one,)))
            elif len(nodes) > 1:
                self._see(quad)

    def _see(self, quad: Quad) -> None:
        distinct = tuple(dict.fromkeys(quad.nodes))
        kinds = self._kinds_of((quad.pieces, tuple([distinct.index(node) for node in quad.nodes])))
        if len(distinct) > 1:
            for place, node in enumerate(distinct):
                self._views[node].append((kinds[place], distinct[:place] + distinct[place + 1 :]))

    def _kinds_of(self, form: _Form) -> list[bytes]:
        """What each node of such a quad sees."""
        kinds = self._kinds.get(form)
        if kinds is None:
            joined = b"\0".join((*form[0], repr(form[1]).encode()))
            number = max(form[1]) + 1
            kinds = self._kinds[form] = [colour_of(b"%d\0%s" % (place, joined)) for place in range(number)]
        return kinds

    def refine(self, colours: dict[bytes, bytes], changed: Iterable[bytes]) -> None:
        """Make colours stable, where all but those of the nodes that changed are. `changed`: all, at first."""
        members = dict(Counter(colours.values()))
        self._budget.spend(len(colours))
        while changed:
            neighbours = {other for node in changed for _, others in self._views[node] for other in others}
            # A node that has its colour for itself keeps it, whatever it sees.
            active = [node for node in neighbours if members[colours[node]] > 1]
            self._budget.spend(sum([len(self._views[node]) for node in active]))
            looks = {node: _look(colours[node], self._views[node], colours) for node in active}
            changed = _split(colours, members, looks)


def colour_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE).digest()


def _look(colour: bytes, views: list[_View], colours: dict[bytes, bytes]) -> bytes:
    """What a node sees. Each part has a length that follows from the hash at its beginning: none can pose as others."""
    parts = [
        kind + colours[others[0]] if len(others) == 1 else kind + b"".join([colours[other] for other in others])
        for kind, others in views
    ]
    parts.sort()
    parts.insert(0, colour)
    return blake2b(b"".join(parts), digest_size=_SIZE).digest()


def _split(colours: dict[bytes, bytes], members: dict[bytes, int], looks: dict[bytes, bytes]) -> list[bytes]:
    """Give new colours to nodes that no longer look like the others of their colour; the nodes that got one.

    Those not looked at keep their colour; where all were, the largest group does: its neighbours, who would otherwise
    all be looked at again, learn as much from the new colours of the smaller groups.
    """
    alike: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for node, look in looks.items():
        alike[look].append(node)
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for look, nodes in alike.items():  # nodes that look alike have had one colour
        groups[colours[nodes[0]]].append(look)
    changed: list[bytes] = []
    for colour, found in groups.items():
        if members[colour] == sum([len(alike[look]) for look in found]):
            found.remove(max(found, key=lambda look: (len(alike[look]), look)))
        for look in found:
            nodes = alike[look]
            members[colour] -= len(nodes)
            members[look] = members.get(look, 0) + len(nodes)
            for node in nodes:
                colours[node] = look
            changed += nodes
    return changed


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
