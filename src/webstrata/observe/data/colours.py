"""Colour refinement: gives two blank nodes different colours as soon as anything said about them differs.

A node whose neighbour got a new colour is looked at again, until nothing moves. Colours do not depend on labels or
order: isomorphic graphs get the same, with the same work, so that the limit on it stops both or neither. Nodes that
keep one colour may still not be interchangeable (`canon.py` settles that).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from webstrata.observe.data.budget import Budget
from webstrata.observe.data.quads import Quad

_SIZE = 16

_View = tuple[bytes, tuple[bytes, ...]]
"""A quad as one of its nodes sees it: what it says and where the node stands in it, and the other nodes."""


class Colouring:
    """The quads of a graph, prepared for looking at them many times."""

    def __init__(self, quads: Iterable[Quad], budget: Budget) -> None:
        self._budget = budget
        self._views: dict[bytes, list[_View]] = {}
        kinds: dict[tuple[tuple[bytes, ...], tuple[int, ...]], list[bytes]] = {}
        for quad in quads:
            distinct = tuple(dict.fromkeys(quad.nodes))
            form = (quad.pieces, tuple([distinct.index(node) for node in quad.nodes]))
            if form not in kinds:
                joined = b"\0".join((*form[0], repr(form[1]).encode()))
                kinds[form] = [colour_of(b"%d\0%s" % (place, joined)) for place in range(len(distinct))]
            for place, (node, kind) in enumerate(zip(distinct, kinds[form], strict=True)):
                views = self._views.setdefault(node, [])
                if len(distinct) > 1:
                    views.append((kind, distinct[:place] + distinct[place + 1 :]))

    def refine(self, colours: dict[bytes, bytes], changed: Iterable[bytes]) -> None:
        """Make colours stable, where all but those of the nodes that changed are. `changed`: all, at first."""
        members = Counter(colours.values())
        self._budget.spend(len(colours))
        while changed:
            active = {other for node in changed for _, others in self._views[node] for other in others}
            self._budget.spend(sum(len(self._views[node]) for node in active))
            looks = {node: _look(colours[node], self._views[node], colours) for node in active}
            changed = _split(colours, members, looks)


def colour_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SIZE).digest()


def _look(colour: bytes, views: list[_View], colours: dict[bytes, bytes]) -> bytes:
    """What a node sees. Each part has a length that follows from the hash at its beginning: none can pose as others."""
    parts = [
        kind + colours[others[0]] if len(others) == 1 else kind + b"".join([colours[other] for other in others])
        for kind, others in views
    ]
    parts.sort()
    return colour_of(colour + b"".join(parts))


def _split(colours: dict[bytes, bytes], members: Counter[bytes], looks: dict[bytes, bytes]) -> list[bytes]:
    """Give new colours to nodes that no longer look like the others of their colour; the nodes that got one.

    Those not looked at keep their colour; where all were, the largest group does: its neighbours, who would otherwise
    all be looked at again, learn as much from the new colours of the smaller groups.
    """
    groups: dict[bytes, dict[bytes, list[bytes]]] = {}
    for node, look in looks.items():
        groups.setdefault(colours[node], {}).setdefault(look, []).append(node)
    changed: list[bytes] = []
    for colour, alike in groups.items():
        if members[colour] == sum(map(len, alike.values())):
            del alike[max(alike, key=lambda look: (len(alike[look]), look))]
        for look, nodes in alike.items():
            members[colour] -= len(nodes)
            members[look] += len(nodes)
            for node in nodes:
                colours[node] = look
            changed += nodes
    return changed
