"""Colour refinement: gives two blank nodes different colours as soon as anything said about them differs.

A node whose neighbour got a new colour is looked at again, until nothing moves. Colours do not depend on labels or
order: isomorphic graphs get the same, with the same work, so that the limit on it stops both or neither. Nodes that
keep one colour may still not be interchangeable (`canon.py` settles that).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from hashlib import blake2b

from webstrata.observe.data.rdf.quads import Quad
from webstrata.observe.data.rdf.work_limit import WorkLimit

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
