"""Quads -> the digest of a graph: equal for isomorphic graphs, different for all others.

1. If what is said of each blank node alone tells them apart, but for a few, the digest is SHA-256 of the canonical
   N-Quads of RDFC-1.0: the same that other tools come to.
2. Otherwise nodes are coloured (`colours.py`). Nodes with a colour of their own are as good as named. The others are
   taken in connected parts. In parts that are trees, colours alone determine the graph (colour refinement identifies
   forests); for each other part a form is searched (`search.py`). The digest is that of all quads with colours for
   nodes, and of those forms.

Which of the two it is, and whether the limit on work is met, depends on the graph alone, not on labels or order: so
isomorphic graphs always meet.
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
"""Blank nodes that are not told apart at once, with which the standard's algorithm is quick whatever they are."""
MAX_WORK = 4_000_000
"""Quads looked at while colouring, again and again; each about a microsecond."""
MAX_SEARCH_WORK = 1_000_000
"""The same, while searching for forms."""


def graph_digest(lines: Iterable[bytes]) -> str:
    """Digest of lines of N-Quads (without their ends; repeated ones count once). Raises `TooHardError`."""
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
    """Of each connected part of nodes that share their colours, where it is no tree."""
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


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
