"""Canonical forms of blank nodes by colour refinement and individualization.

Refinement gives two blank nodes different colours if their quads differ. A node whose neighbour got a new colour is
processed again, until no colour changes. Colours do not depend on labels or order: isomorphic graphs get the same
colours with the same work, so that the work limit stops both or neither.

Nodes that keep the same colour may still not be interchangeable. For a connected part with such nodes, `part_form`
individualizes one node of a colour (gives it a colour of its own), refines again, and so on until every node has its
own colour; the smallest form over all choices is the canonical form. Of nodes that can be swapped without changing the
graph only one is tried. The choices depend only on the graph, and all of them count as work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b

from webstrata.observe.data.rdf.quads import Quad
from webstrata.observe.data.rdf.rdfc import TooHardError, WorkLimit

_SIZE = 16

_View = tuple[bytes, tuple[bytes, ...]]
"""A quad seen from one of its nodes: a hash of the quad's form and the node's position, and the other nodes."""
_Form = tuple[tuple[bytes, ...], tuple[int, ...]]
"""The fixed pieces of a quad, and which of its blank nodes are the same."""


class Colouring:
    """The quads of a graph, prepared for repeated refinement. Quads with only one blank node are left out."""

    def __init__(self, quads: Iterable[Quad], budget: WorkLimit) -> None:
        self._budget = budget
        self._views: defaultdict[bytes, list[_View]] = defaultdict(list)
        self._kinds: dict[_Form, list[bytes]] = {}
        for quad in quads:
            nodes = quad.nodes
            if len(nodes) == 2 and nodes[0] != nodes[1]:  # nearly all quads
                node, other = nodes
                first, second = self._kinds_of((quad.pieces, (0, 1)))
                self._views[node].append((first, (other,)))
                self._views[other].append((second, (node,)))
            elif len(nodes) > 1:
                self._add_views(quad)

    def _add_views(self, quad: Quad) -> None:
        distinct = tuple(dict.fromkeys(quad.nodes))
        kinds = self._kinds_of((quad.pieces, tuple([distinct.index(node) for node in quad.nodes])))
        if len(distinct) > 1:
            for position, node in enumerate(distinct):
                self._views[node].append((kinds[position], distinct[:position] + distinct[position + 1 :]))

    def _kinds_of(self, form: _Form) -> list[bytes]:
        """The hash for each node of a quad of this form."""
        kinds = self._kinds.get(form)
        if kinds is None:
            joined = b"\0".join((*form[0], repr(form[1]).encode()))
            number = max(form[1]) + 1
            kinds = self._kinds[form] = [colour_of(b"%d\0%s" % (position, joined)) for position in range(number)]
        return kinds

    def refine(self, colours: dict[bytes, bytes], changed: Iterable[bytes]) -> None:
        """Refine colours until they are stable. `changed`: the nodes with new colours; all nodes at first."""
        members = dict(Counter(colours.values()))
        self._budget.spend(len(colours))
        while changed:
            neighbours = {other for node in changed for _, others in self._views[node] for other in others}
            # A node that is the only one of its colour keeps it.
            active = [node for node in neighbours if members[colours[node]] > 1]
            self._budget.spend(sum([len(self._views[node]) for node in active]))
            hashes = {node: _view_hash(colours[node], self._views[node], colours) for node in active}
            changed = _split(colours, members, hashes)


def colour_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE).digest()


def _view_hash(colour: bytes, views: list[_View], colours: dict[bytes, bytes]) -> bytes:
    """The hash of a node's views. The length of each part follows from its first hash, so the bytes are unambiguous."""
    parts = [
        kind + colours[others[0]] if len(others) == 1 else kind + b"".join([colours[other] for other in others])
        for kind, others in views
    ]
    parts.sort()
    parts.insert(0, colour)
    return blake2b(b"".join(parts), digest_size=_SIZE).digest()


def _split(colours: dict[bytes, bytes], members: dict[bytes, int], hashes: dict[bytes, bytes]) -> list[bytes]:
    """Give new colours to nodes that differ from the other nodes of their colour. Returns the nodes with new colours.

    Nodes that were not processed keep their colour. If all nodes of a colour were processed, the largest group keeps
    it, which saves processing its neighbours again: the new colours of the smaller groups distinguish them as well.
    """
    alike: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for node, view_hash in hashes.items():
        alike[view_hash].append(node)
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for view_hash, nodes in alike.items():  # nodes with the same hash had the same colour
        groups[colours[nodes[0]]].append(view_hash)
    changed: list[bytes] = []
    for colour, group in groups.items():
        if members[colour] == sum([len(alike[view_hash]) for view_hash in group]):
            group.remove(max(group, key=lambda view_hash: (len(alike[view_hash]), view_hash)))
        for view_hash in group:
            nodes = alike[view_hash]
            members[colour] -= len(nodes)
            members[view_hash] = members.get(view_hash, 0) + len(nodes)
            for node in nodes:
                colours[node] = view_hash
            changed += nodes
    return changed


def part_form(quads: list[Quad], colours: dict[bytes, bytes], budget: WorkLimit) -> bytes:
    """The canonical form of a connected part with stable colours: equal if and only if two parts are isomorphic."""
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
        """The nodes of one colour; of nodes that can be swapped, only one."""
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
    """The nodes of the smallest colour class with several nodes (the first, if several); empty if there is none."""
    cells: dict[bytes, list[bytes]] = {}
    for node, colour in colours.items():
        cells.setdefault(colour, []).append(node)
    shared = {colour: nodes for colour, nodes in cells.items() if len(nodes) > 1}
    return shared[min(shared, key=lambda colour: (len(shared[colour]), colour))] if shared else []
