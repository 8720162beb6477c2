"""How fast a graph gets its digest: `python bench/graph.py [--triples N] [--peer PYTHON [--peer-triples N]] [--json]`.

The graph is an ontology's: classes with labels, and restrictions in nested blank nodes, a few of them twins; then the
same with the blank nodes in long lists. With `--peer`, a Python that has rdflib compares two copies of the graph under
other labels with `rdflib.compare.isomorphic`, and the ratio is to reading and digesting both copies here. That is done
for a smaller graph (`--peer-triples`): its work grows with the square of the blank nodes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from webstrata.observe.data import graph
from webstrata.observe.data.data import Data

_PEER = """
import sys, time
from rdflib import Graph
from rdflib.compare import isomorphic
begun = time.process_time()
one, other = (Graph().parse(name, format="nt") for name in sys.argv[1:])
assert isomorphic(one, other)
print(time.process_time() - begun)
"""


def ontology(triples: int, prefix: str) -> bytes:
    """Per class: six triples, of which four are about two blank nodes; every tenth restriction is a twin."""
    lines = []
    for number in range(triples // 6):
        one, other = f"_:{prefix}{number}a", f"_:{prefix}{number}b"
        subject = f"<http://example.org/class/{number}>"
        lines += [
            f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "Class number {number}"@en .',
            f"{subject} <http://www.w3.org/2000/01/rdf-schema#subClassOf> {one} .",
            f"{one} <http://www.w3.org/2002/07/owl#onProperty> <http://example.org/property/{number % 50}> .",
            f"{one} <http://www.w3.org/2002/07/owl#someValuesFrom> {other} .",
            f"{other} <http://www.w3.org/2002/07/owl#complementOf> <http://example.org/class/{number // 10}> .",
            f'{other} <http://www.w3.org/2000/01/rdf-schema#comment> "nested" .',
        ]
    return "\n".join(lines).encode()


def lists(triples: int, prefix: str) -> bytes:
    """RDF lists of a hundred members, the same few members over and over: their nodes look alike at first."""
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    lines = []
    for number in range(triples // 2):
        node, rest = f"_:{prefix}{number}", f"_:{prefix}{number + 1}" if number % 100 != 99 else f"<{rdf}nil>"
        lines.append(f"{node} <{rdf}first> <http://example.org/{number % 7 if number % 100 else number}> .")
        lines.append(f"{node} <{rdf}rest> {rest} .")
    return "\n".join(lines).encode()


def measure(make: Callable[[int, str], bytes], triples: int) -> dict[str, float]:
    body = make(triples, "x")
    begun = time.process_time()
    size = _same(body).size
    took = time.process_time() - begun
    return {"triples": size, "seconds": took, "triples_per_second": size / took}


def compare(make: Callable[[int, str], bytes], triples: int, peer: str) -> dict[str, float]:
    one, other = make(triples, "x"), make(triples, "y")
    begun = time.process_time()
    assert _same(one).digest == _same(other).digest
    ours = time.process_time() - begun
    theirs = _peer_seconds(peer, one, other)
    return {"compared_triples": triples, "our_seconds": ours, "rdflib_seconds": theirs, "times_as_fast": theirs / ours}


def _same(body: bytes) -> Data:
    data = graph.read(body, None, "http://example.org/", syntax="ntriples")
    assert data.digest is not None, data.note
    return data


def _peer_seconds(peer: str, one: bytes, other: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / "one.nt", Path(folder) / "other.nt"]
        names[0].write_bytes(one)
        names[1].write_bytes(other)
        done = subprocess.run([peer, "-c", _PEER, *map(str, names)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python bench/graph.py", description=__doc__)
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--peer", help="a Python with rdflib")
    parser.add_argument("--peer-triples", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = {make.__name__: measure(make, arguments.triples) for make in (ontology, lists)}
    if arguments.peer:
        for make in (ontology, lists):
            found[make.__name__] |= compare(make, arguments.peer_triples, arguments.peer)
    if arguments.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    for name, row in found.items():
        print(name, *(f"{key} {value:,.2f}" for key, value in row.items()), sep="  ")


if __name__ == "__main__":
    main()
