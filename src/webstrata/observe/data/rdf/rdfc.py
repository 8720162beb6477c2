"""RDFC-1.0 (W3C RDF Dataset Canonicalization) with a limit on its work.

The standard's algorithm tries all orders of blank nodes that have the same hash; some graphs take exponential time.
Here every order tried and every node visited counts as work. `TooHardError` is raised at the limit, so that no signal
or second process is needed to stop the algorithm.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations

from webstrata.errors import WebstrataError
from webstrata.observe.data.rdf.quads import Quad, split


class TooHardError(WebstrataError):
    """The graph is too symmetric to be canonicalized within the work limit."""


class WorkLimit:
    """A number of steps; `spend` raises `TooHardError` when none are left."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooHardError("too many blank nodes that look alike")


MAX_WORK = 1_000_000
"""Steps of two or three microseconds."""


class Issuer:
    """Issues blank node labels in the order of the requests."""

    def __init__(self, prefix: bytes, issued: dict[bytes, bytes] | None = None) -> None:
        self._prefix = prefix
        self.issued = issued if issued is not None else {}

    def issue(self, node: bytes) -> bytes:
        name = self.issued.get(node)
        if name is None:
            name = self.issued[node] = b"_:%s%d" % (self._prefix, len(self.issued))
        return name

    def copy(self) -> Issuer:
        return Issuer(self._prefix, dict(self.issued))


def canonical_lines(lines: Iterable[bytes], budget: WorkLimit, *, algorithm: str = "sha256") -> list[bytes]:
    """The canonical N-Quads lines (without line ends, sorted) of N-Quads lines."""
    ground, quads = split(set(lines))
    names = canonical_names(quads, budget, algorithm=algorithm)
    return sorted(ground + [quad.named(names) for quad in quads])


def canonical_names(
    quads: Sequence[Quad], budget: WorkLimit, *, algorithm: str = "sha256", first: dict[bytes, bytes] | None = None
) -> dict[bytes, bytes]:
    """The label `_:c14n…` of each blank node, in the order of issue. `first`: first-degree hashes, if known."""
    try:
        return _Rdfc10(quads, budget, algorithm, first or {}).names()
    except RecursionError:
        raise TooHardError("a chain of blank nodes that look alike is too long") from None


def by_node(quads: Sequence[Quad]) -> dict[bytes, list[Quad]]:
    """The quads in which each blank node occurs."""
    quads_of: dict[bytes, list[Quad]] = {}
    for quad in quads:
        nodes = quad.nodes
        for node in nodes if len(nodes) == 1 else dict.fromkeys(nodes):
            quads_of.setdefault(node, []).append(quad)
    return quads_of


def first_degree(node: bytes, quads: Iterable[Quad], digest: Callable[[bytes], bytes]) -> bytes:
    """The hash of a node's quads, without distinction of the other blank nodes (RDFC-1.0, 4.6)."""
    lines = [
        quad.pieces[0] + b"_:a" + quad.pieces[1]
        if len(quad.nodes) == 1
        else quad.line([b"_:a" if each == node else b"_:z" for each in quad.nodes])
        for quad in quads
    ]
    lines.sort()
    return digest(b"\n".join(lines) + b"\n")


class _Rdfc10:
    """One run of the algorithm; docstrings name the sections of the standard."""

    def __init__(self, quads: Sequence[Quad], budget: WorkLimit, algorithm: str, first: dict[bytes, bytes]) -> None:
        self._quads = by_node(quads)
        self._budget = budget
        self._algorithm = algorithm
        self._canonical = Issuer(b"c14n")
        self._first = dict(first)

    def names(self) -> dict[bytes, bytes]:
        """Section 4.4."""
        by_hash: dict[bytes, list[bytes]] = {}
        for node, quads in self._quads.items():
            if node not in self._first:
                self._first[node] = first_degree(node, quads, self._digest)
            by_hash.setdefault(self._first[node], []).append(node)
        for key in sorted(key for key, nodes in by_hash.items() if len(nodes) == 1):
            self._canonical.issue(by_hash[key][0])
        for key in sorted(key for key, nodes in by_hash.items() if len(nodes) > 1):
            self._label_nodes(by_hash[key])
        return self._canonical.issued

    def _label_nodes(self, nodes: list[bytes]) -> None:
        results: list[tuple[bytes, Issuer]] = []
        for node in nodes:
            if node in self._canonical.issued:
                continue
            temporary = Issuer(b"b")
            temporary.issue(node)
            results.append(self._n_degree(node, temporary))
        for _, issuer in sorted(results, key=lambda result: result[0]):
            for node in issuer.issued:
                self._canonical.issue(node)

    def _n_degree(self, node: bytes, issuer: Issuer) -> tuple[bytes, Issuer]:
        """Section 4.8."""
        self._budget.spend(1 + len(self._quads[node]))
        related: dict[bytes, list[bytes]] = {}
        for quad in self._quads[node]:
            for other, position in zip(quad.nodes, quad.positions, strict=True):
                if other != node:
                    key = self._related(other, quad, issuer, position)
                    related.setdefault(key, []).append(other)
        data = b""
        for key in sorted(related):
            path, issuer = self._best_path(related[key], issuer)
            data += key + path
        return self._digest(data), issuer

    def _related(self, node: bytes, quad: Quad, issuer: Issuer, position: bytes) -> bytes:
        """Section 4.7."""
        data = position if position == b"g" else position + quad.predicate
        name = self._canonical.issued.get(node) or issuer.issued.get(node)
        return self._digest(data + (name if name is not None else self._first[node]))

    def _best_path(self, nodes: list[bytes], issuer: Issuer) -> tuple[bytes, Issuer]:
        best = b""
        best_issuer = issuer
        for order in permutations(nodes):
            self._budget.spend(len(order))
            path = self._path(order, issuer.copy(), best)
            if path is not None and (not best or path[0] < best):
                best, best_issuer = path
        return best, best_issuer

    def _path(self, order: tuple[bytes, ...], issuer: Issuer, best: bytes) -> tuple[bytes, Issuer] | None:
        """The path for one order of nodes; None as soon as it cannot be the smallest."""
        path = b""
        visited: list[bytes] = []
        for node in order:
            name = self._canonical.issued.get(node)
            if name is None:
                if node not in issuer.issued:
                    visited.append(node)
                name = issuer.issue(node)
            path += name
            if best and len(path) >= len(best) and path > best:
                return None
        for node in visited:
            digest, deeper = self._n_degree(node, issuer)
            path += issuer.issue(node) + b"<" + digest + b">"
            issuer = deeper
            if best and len(path) >= len(best) and path > best:
                return None
        return path, issuer

    def _digest(self, data: bytes) -> bytes:
        return hashlib.new(self._algorithm, data).hexdigest().encode()
