"""Digests of graphs: equal for isomorphic graphs only, in bounded time."""

from __future__ import annotations

import hashlib
import random
import re
import time
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.rdf.graph_digest import MAX_AMBIGUOUS, graph_digest
from webstrata.observe.data.rdf.rdfc import TooHardError, WorkLimit, canonical_lines

_NODE = re.compile(r"_:\w+")


def digest(lines: list[str]) -> str:
    return graph_digest(line.encode() for line in lines)


def relabelled(lines: list[str], chance: random.Random) -> list[str]:
    """The same graph with other labels in another order."""
    nodes = sorted({node for line in lines for node in _NODE.findall(line)})
    labels = [f"_:x{number}" for number in range(len(nodes))]
    chance.shuffle(labels)
    names = dict(zip(nodes, labels, strict=True))
    again = [_NODE.sub(lambda match: names[match[0]], line) for line in lines]
    chance.shuffle(again)
    return again


def isomorphic(one: list[str], other: list[str]) -> bool:
    """Whether two graphs are isomorphic, by trying all renamings."""
    theirs = set(other)
    nodes = sorted({node for line in one for node in _NODE.findall(line)})
    targets = sorted({node for line in other for node in _NODE.findall(line)})
    if len(nodes) != len(targets) or len(set(one)) != len(theirs):
        return False
    for order in permutations(targets):
        names = dict(zip(nodes, order, strict=True))
        if {_NODE.sub(lambda match, names=names: names[match[0]], line) for line in one} == theirs:  # type: ignore[misc]
            return True
    return False


def graphs(nodes: int, limit: int) -> st.SearchStrategy[list[str]]:
    blank = st.integers(0, nodes - 1).map(lambda number: f"_:n{number}")
    term = blank | st.sampled_from(["<http://e/a>", '"_:-n1"'])
    graph_name = st.sampled_from(["", "", "", " <http://e/g>", " _:n0"])
    quad = st.tuples(
        blank | st.just("<http://e/a>"), st.sampled_from(["<http://e/p>", "<http://e/q>"]), term, graph_name
    )
    return st.lists(quad.map(lambda parts: f"{parts[0]} {parts[1]} {parts[2]}{parts[3]} ."), min_size=1, max_size=limit)


@given(graphs(9, 16), st.randoms(use_true_random=False))
def test_labels_and_order_do_not_count(lines: list[str], chance: random.Random) -> None:
    """A graph under other labels and in another order has the same digest."""
    assert digest(lines) == digest(relabelled(lines, chance))


@given(graphs(6, 8), graphs(6, 8))
def test_digests_are_equal_exactly_for_isomorphic_graphs(one: list[str], other: list[str]) -> None:
    """Digests are equal if and only if a search through all renamings finds an isomorphism."""
    assert (digest(one) == digest(other)) == isomorphic(one, other)


@given(graphs(7, 10), st.data())
def test_one_changed_edge(lines: list[str], data: st.DataObject) -> None:
    """Graphs that differ in one label have different digests if and only if they are not isomorphic."""
    other = lines[:]
    place = data.draw(st.integers(0, len(lines) - 1))
    other[place] = _NODE.sub(f"_:n{data.draw(st.integers(0, 6))}", other[place], count=1)
    assert (digest(lines) == digest(other)) == isomorphic(lines, other)


def ring(number: int, prefix: str = "n") -> list[str]:
    return [f"_:{prefix}{n} <p> _:{prefix}{(n + 1) % number} ." for n in range(number)]


PAIRS = {
    "one ring of 12, two of 6": (ring(12), ring(6, "a") + ring(6, "b")),
    "two rings of 6, three of 4": (ring(6, "a") + ring(6, "b"), ring(4, "a") + ring(4, "b") + ring(4, "c")),
    "double edges, crossed edges": (
        [f"_:a{n} <{p}> _:b{n} ." for n in range(6) for p in "pq"],
        [f"_:a{n} <p> _:b{n} ." for n in range(6)] + [f"_:a{n} <q> _:b{(n + 1) % 6} ." for n in range(6)],
    ),
    "how often": ([f'_:a{n} <p> "x" .' for n in range(8)], [f'_:a{n} <p> "x" .' for n in range(9)]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_graphs_with_equal_colours(name: str) -> None:
    """Graphs that colour refinement does not distinguish have different digests."""
    one, other = PAIRS[name]
    assert digest(one) != digest(other)
    assert digest(one) == digest(relabelled(one, random.Random(1)))


@pytest.mark.parametrize("alike", range(2, MAX_AMBIGUOUS + 1))
def test_few_equal_nodes_give_the_digest_of_the_standard(alike: int) -> None:
    """The digest is the SHA-256 of the canonical N-Quads, as in other tools."""
    lines = [*ring(alike), '_:other <p> "x" .', "<a> <b> <c> ."]
    canonical = canonical_lines([line.encode() for line in lines], WorkLimit(10**6))
    assert digest(lines) == hashlib.sha256(b"".join(line + b"\n" for line in canonical)).hexdigest()


QUICK = {
    "a long list of the same": [f"_:n{n} <rest> _:n{n + 1} ." for n in range(5000)],
    "many twins": [f'_:n{n} <p> "x" .' for n in range(20_000)],
    "many small rings": [line for n in range(500) for line in ring(4, f"r{n}x")],
    "a clique": [f"_:n{a} <p> _:n{b} ." for a in range(20) for b in range(20) if a != b],
    "many copies of a tree": [
        line for n in range(2000) for line in (f"_:a{n} <p> _:b{n} .", f"_:a{n} <q> _:c{n} .", f'_:c{n} <r> "1" .')
    ],
}


@pytest.mark.parametrize("name", QUICK)
def test_symmetric_graphs(name: str) -> None:
    """Symmetric graphs have a digest within seconds, the same with other labels."""
    lines = QUICK[name]
    begun = time.process_time()
    assert digest(lines) == digest(relabelled(lines, random.Random(2)))
    assert time.process_time() - begun < 20.0


POISON = {
    "a torus": [
        f"_:n{a}x{b} <p> _:n{(a + x) % 40}x{(b + y) % 40} ."
        for a in range(40)
        for b in range(40)
        for x, y in ((0, 1), (1, 0))
    ],
    "a large clique": [f"_:n{a} <p> _:n{b} ." for a in range(150) for b in range(150) if a != b],
    "a large ring": ring(20_000),
}


@pytest.mark.parametrize("name", POISON)
def test_work_limit_does_not_depend_on_labels(name: str) -> None:
    """All isomorphic forms of a hard graph reach the work limit."""
    for lines in (POISON[name], relabelled(POISON[name], random.Random(3))):
        begun = time.process_time()
        with pytest.raises(TooHardError):
            digest(lines)
        assert time.process_time() - begun < 30.0
