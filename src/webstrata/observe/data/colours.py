"""Colour refinement: gives two blank nodes different colours as soon as anything said about them differs.

Nodes begin with the hash of what is said of them alone; a node whose neighbour got a new colour is looked at again,
until nothing moves. Colours do not depend on labels or order: isomorphic graphs get the same, and the work is the same
for both, so that the limit on it stops both or neither. Nodes that keep one colour may still not be interchangeable
(`canon.py` settles that).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from webstrata.observe.data.budget import Budget
from webstrata.observe.data.quads import Quad

MOST_WORK = 4_000_000
"""Quads looked at, again and again; each about a microsecond."""
_SIZE = 16


class Linked:
    """A quad that joins blank nodes, prepared for looking at it many times."""

    __slots__ = ("kind", "nodes")

    def __init__(self, quad: Quad) -> None:
        self.nodes = tuple(dict.fromkeys(quad.nodes))
        pattern = b",".join(b"%d" % self.nodes.index(node) for node in quad.nodes)
        self.kind = _hash(b"\0".join(quad.pieces) + b"\0" + pattern)
        """Of everything but its nodes: two quads of one kind differ only in these."""


def refine(colours: dict[bytes, bytes], linked: Sequence[Linked], budget: Budget) -> dict[bytes, bytes]:
    """The coarsest stable colouring that is as fine as `colours`."""
    colours = dict(colours)
    quads: dict[bytes, list[Linked]] = {node: [] for node in colours}
    for link in linked:
        for node in link.nodes:
            quads[node].append(link)
    changed: Iterable[bytes] = colours
    while changed:
        active = {node for each in changed for link in quads[each] for node in link.nodes}
        active = {node for node in active if quads[node]}
        budget.spend(sum(len(quads[node]) for node in active))
        seen = {node: _look(node, quads[node], colours) for node in active}
        changed = _split(colours, seen)
    return colours


def _look(node: bytes, quads: list[Linked], colours: dict[bytes, bytes]) -> bytes:
    views = [
        link.kind + b"%d" % link.nodes.index(node) + b"".join([colours[each] for each in link.nodes]) for link in quads
    ]
    views.sort()
    return _hash(colours[node] + b"".join(views))


def _split(colours: dict[bytes, bytes], seen: dict[bytes, bytes]) -> list[bytes]:
    """Give new colours to nodes that no longer look like the others of their colour; the nodes that got one."""
    members: dict[bytes, int] = {}
    for colour in colours.values():
        members[colour] = members.get(colour, 0) + 1
    looks: dict[bytes, dict[bytes, list[bytes]]] = {}
    for node, look in seen.items():
        looks.setdefault(colours[node], {}).setdefault(look, []).append(node)
    changed: list[bytes] = []
    for colour, groups in looks.items():
        if len(groups) == 1 and members[colour] == sum(len(nodes) for nodes in groups.values()):
            continue  # all were looked at, and all look the same: nobody learned anything
        for look, nodes in groups.items():
            for node in nodes:
                colours[node] = look
            changed += nodes
    return changed


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SIZE).digest()
