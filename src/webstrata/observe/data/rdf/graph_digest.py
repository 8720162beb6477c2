"""The digest of a graph: equal for isomorphic graphs, different for all others.

1. If the quads of each blank node distinguish nearly all blank nodes (first-degree hashes), the digest is the SHA-256
   of the canonical N-Quads of RDFC-1.0, which other tools compute as well.
2. Otherwise the nodes are coloured (`colours.py`). A node with a colour of its own is identified by it. The other nodes
   are divided into connected parts. In parts that are trees the colours determine the graph (colour refinement
   identifies forests); for every other part a canonical form is computed. The digest covers all quads, with colours for
   nodes, and these forms.

The choice between the two, and whether the work limit is reached, depend only on the graph, not on labels or order.
Therefore isomorphic graphs always get the same digest, or both get none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from webstrata.observe.data.rdf import rdfc
from webstrata.observe.data.rdf.colours import Colouring, colour_of, part_form
from webstrata.observe.data.rdf.quads import Quad, split
from webstrata.observe.data.rdf.rdfc import WorkLimit

MAX_AMBIGUOUS = 5
"""Blank nodes with equal first-degree hashes; up to this number RDFC-1.0 is fast for every graph."""
MAX_WORK = 4_000_000
"""Quads processed for colouring, about a microsecond each."""
MAX_SEARCH_WORK = 1_000_000
"""Quads processed for canonical forms of parts."""


def graph_digest(lines: Iterable[bytes]) -> str:
    """The digest of N-Quads lines (without line ends; duplicates count once). Raises `TooHardError`."""
    ground, quads = split(set(lines))
    first = {node: rdfc.first_degree(node, about, _sha256) for node, about in rdfc.by_node(quads).items()}
    count = Counter(first.values())
    if sum(number for number in count.values() if number > 1) <= MAX_AMBIGUOUS:
        return _digest(ground, quads, rdfc.canonical_names(quads, WorkLimit(rdfc.MAX_WORK), first=first))
    colours = {node: colour_of(colour) for node, colour in first.items()}
    Colouring(quads, WorkLimit(MAX_WORK)).refine(colours, list(colours))
    names = {node: b"_:" + colour.hex().encode() for node, colour in colours.items()}
    return _digest(ground, quads, names, [b"# parts", *sorted(_part_forms(quads, colours, WorkLimit(MAX_SEARCH_WORK)))])


def _digest(ground: list[bytes], quads: list[Quad], names: dict[bytes, bytes], more: Iterable[bytes] = ()) -> str:
    lines = ground + [quad.named(names) for quad in quads]
    lines.sort()
    lines += more
    return hashlib.sha256(b"".join([line + b"\n" for line in lines])).hexdigest()


def _part_forms(quads: list[Quad], colours: dict[bytes, bytes], budget: WorkLimit) -> Iterator[bytes]:
    """The canonical form of each connected part of nodes with shared colours that is not a tree."""
    count = Counter(colours.values())
    shared = {node for node, colour in colours.items() if count[colour] > 1}
    joining = [quad for quad in quads if len(quad.nodes) > 1 and len(shared.intersection(quad.nodes)) > 1]
    for part in _parts(joining, shared):
        nodes = {node for quad in part for node in quad.nodes if node in shared}
        pairs = {frozenset(shared.intersection(quad.nodes)) for quad in part}
        is_tree = len(part) == len(pairs) == len(nodes) - 1 and all(len(pair) == 2 for pair in pairs)
        if not is_tree:
            inner = {node: colours[node] for node in nodes}
            outer = {node: b"<%s>" % colours[node].hex().encode() for quad in part for node in quad.nodes}
            lines = [quad.line([node if node in nodes else outer[node] for node in quad.nodes]) for quad in part]
            yield part_form(split(lines)[1], inner, budget).hex().encode()


def _parts(quads: list[Quad], shared: set[bytes]) -> list[list[Quad]]:
    """The quads in groups, so that quads with a common node are in the same group."""
    leader: dict[bytes, bytes] = {}

    def find(node: bytes) -> bytes:
        while (parent := leader.setdefault(node, node)) != node:
            leader[node] = leader.setdefault(parent, parent)
            node = parent
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


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
