"""Quads -> the digest of a graph: equal for isomorphic graphs, different for all others.

1. If what is said of each blank node alone tells all of them apart (or there are none), the digest is SHA-256 of the
   canonical N-Quads of RDFC-1.0, whose names then follow from those hashes directly.
2. Otherwise nodes are coloured (`colours.py`). Nodes with a colour of their own are as good as named. The others are
   taken in connected parts. In parts that are trees, colours alone determine the graph (colour refinement identifies
   forests); each other part is canonicalised on its own by RDFC-1.0, its colours taken for granted. The digest is that
   of all quads with colours for nodes, and of those parts.

Which of the two it is depends on the graph alone, not on labels or order, so isomorphic graphs always meet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from webstrata.observe.data import colours as colouring
from webstrata.observe.data import rdfc
from webstrata.observe.data.budget import Budget
from webstrata.observe.data.colours import Linked
from webstrata.observe.data.quads import Quad, split


def graph_digest(lines: Iterable[bytes]) -> str:
    """Digest of lines of N-Quads (without their ends; repeated ones count once). Raises `TooHardError`."""
    ground, quads = split(set(lines))
    colours = {node: rdfc.first_degree(node, about, _sha256) for node, about in rdfc.by_node(quads).items()}
    if len(set(colours.values())) == len(colours):
        order = sorted(colours, key=colours.__getitem__)
        names = {node: b"_:c14n%d" % place for place, node in enumerate(order)}
        return _digest(ground, quads, names)
    linked = [link for link in map(Linked, quads) if len(link.nodes) > 1]
    colours = colouring.refine(colours, linked, Budget(colouring.MOST_WORK))
    names = {node: b"_:" + colour.hex().encode() for node, colour in colours.items()}
    parts = sorted(_part_digests(quads, names))
    return _digest(ground, quads, names, [b"# parts", *parts])


def _digest(ground: list[bytes], quads: list[Quad], names: dict[bytes, bytes], more: Iterable[bytes] = ()) -> str:
    lines = ground + [quad.line([names[node] for node in quad.nodes]) for quad in quads]
    lines.sort()
    lines += more
    return hashlib.sha256(b"".join([line + b"\n" for line in lines])).hexdigest()


def _part_digests(quads: list[Quad], names: dict[bytes, bytes]) -> Iterator[bytes]:
    """Of each connected part of nodes that share their colours, where it is no tree."""
    budget = Budget(rdfc.MOST_WORK)
    shared = _shared(names)
    joining = [quad for quad in quads if len(shared.intersection(quad.nodes)) > 1]
    for part in _parts(joining, shared):
        nodes = {node for quad in part for node in quad.nodes if node in shared}
        pairs = {frozenset(shared.intersection(quad.nodes)) for quad in part}
        is_tree = len(part) == len(pairs) == len(nodes) - 1 and all(len(pair) == 2 for pair in pairs)
        if not is_tree:
            yield _part_digest(part, nodes, names, budget)


def _shared(names: dict[bytes, bytes]) -> set[bytes]:
    count: dict[bytes, int] = {}
    for name in names.values():
        count[name] = count.get(name, 0) + 1
    return {node for node, name in names.items() if count[name] > 1}


def _parts(quads: list[Quad], shared: set[bytes]) -> list[list[Quad]]:
    """Quads, grouped so that those which share a node are together."""
    leader: dict[bytes, bytes] = {}

    def find(node: bytes) -> bytes:
        while (above := leader.setdefault(node, node)) != node:
            leader[node] = leader.setdefault(above, above)
            node = above
        return node

    for quad in quads:
        first, *others = (node for node in quad.nodes if node in shared)
        for other in others:
            leader[find(other)] = find(first)
    groups: dict[bytes, list[Quad]] = {}
    for quad in quads:
        node = next(node for node in quad.nodes if node in shared)
        groups.setdefault(find(node), []).append(quad)
    return list(groups.values())


def _part_digest(part: list[Quad], nodes: set[bytes], names: dict[bytes, bytes], budget: Budget) -> bytes:
    """RDFC-1.0 of a part, with a quad for the colour of each node; named nodes around it are no blank nodes there."""
    lines = [quad.line([node if node in nodes else b"<%s>" % names[node] for node in quad.nodes]) for quad in part]
    lines += [b'%s <colour> "%s" .' % (node, names[node]) for node in nodes]
    return _sha256(b"\n".join(rdfc.canonical_lines(lines, budget)))


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
