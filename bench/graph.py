"""How fast a graph gets its digest, and how that compares with rdflib's test of isomorphism.

Two graphs of 200,000 triples: an ontology's (classes with labels, restrictions in nested blank nodes) and long RDF
lists. rdflib, in its own environment (`.peers`), compares two copies of a graph under other labels with
`rdflib.compare.isomorphic`; the ratio is to reading and digesting both copies here. That is done with 1,000 triples,
because rdflib's work grows with the square of the blank nodes.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from bench.figures import Figure
from webstrata.observe.data.rdf import graph

_TRIPLES, _TRIPLES_QUICK = 200_000, 20_000
_COMPARED = 1_000
_MOST_SECONDS = 10.0
_LEAST_RATIO = 10.0
_PEER_PYTHON = Path(".peers/bin/python")
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


def run(quick: bool) -> list[Figure]:
    triples, repeats = (_TRIPLES_QUICK, 1) if quick else (_TRIPLES, 3)
    figures: list[Figure] = []
    for make in (ontology, lists):
        body = make(triples, "x")
        name = f"{make.__name__} of {triples:,} triples, read and canonical"
        seconds = [_seconds(body) for _ in range(repeats)]
        figures.append(Figure(bench="graph", name=name, values=seconds, unit="s", at_most=_MOST_SECONDS))
        if not _PEER_PYTHON.exists():
            continue
        one, other = make(_COMPARED, "x"), make(_COMPARED, "y")
        ratios = [_peer_seconds(one, other) / _seconds(one, other) for _ in range(repeats)]
        name = f"{make.__name__} of {_COMPARED:,} triples twice, against rdflib"
        figures.append(Figure(bench="graph", name=name, values=ratios, at_least=_LEAST_RATIO))
    return figures


def _seconds(*bodies: bytes) -> float:
    """CPU time for the digests of copies of one graph."""
    begun = time.process_time()
    digests = {_digest(body) for body in bodies}
    took = time.process_time() - begun
    assert len(digests) == 1, "copies under other labels must have one digest"
    return took


def _digest(body: bytes) -> str:
    data = graph.rdf_digest(body, None, "http://example.org/", syntax="ntriples")
    assert data.digest is not None, data.note
    return data.digest


def _peer_seconds(one: bytes, other: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / "one.nt", Path(folder) / "other.nt"]
        names[0].write_bytes(one)
        names[1].write_bytes(other)
        command = [str(_PEER_PYTHON), "-c", _PEER, *map(str, names)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)
