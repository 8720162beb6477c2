"""Speed of the digest of an RDF graph, compared with rdflib's test of isomorphism.

Two graphs of 200,000 triples: an ontology (classes with labels, restrictions in nested blank nodes) and long RDF lists.
rdflib, in its own environment (`.peers`), compares two copies of a graph with different blank node labels by
`rdflib.compare.isomorphic`; the ratio is to the time of parsing and digesting both copies here. It is measured with
1,000 triples, because rdflib's time grows with the square of the number of blank nodes.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from bench.figures import Figure, cpu_seconds
from webstrata.observe.data.rdf import graph

_TRIPLES, _TRIPLES_QUICK = 200_000, 20_000
_COMPARED = 1_000
_MAX_SECONDS = 10.0
_MIN_RATIO = 10.0
_PEER_PYTHON = Path(".peers/bin/python")
_PEER = """
import sys, time
from rdflib import Graph
from rdflib.compare import isomorphic
start = time.process_time()
first, second = (Graph().parse(name, format="nt") for name in sys.argv[1:])
assert isomorphic(first, second)
print(time.process_time() - start)
"""


def ontology(triples: int, prefix: str) -> bytes:
    """Six triples per class, four of them with two blank nodes; ten classes each have equal restrictions."""
    lines = []
    for number in range(triples // 6):
        outer, inner = f"_:{prefix}{number}a", f"_:{prefix}{number}b"
        subject = f"<http://example.org/class/{number}>"
        lines += [
            f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "Class number {number}"@en .',
            f"{subject} <http://www.w3.org/2000/01/rdf-schema#subClassOf> {outer} .",
            f"{outer} <http://www.w3.org/2002/07/owl#onProperty> <http://example.org/property/{number % 50}> .",
            f"{outer} <http://www.w3.org/2002/07/owl#someValuesFrom> {inner} .",
            f"{inner} <http://www.w3.org/2002/07/owl#complementOf> <http://example.org/class/{number // 10}> .",
            f'{inner} <http://www.w3.org/2000/01/rdf-schema#comment> "nested" .',
        ]
    return "\n".join(lines).encode()


def lists(triples: int, prefix: str) -> bytes:
    """RDF lists of a hundred members with few different values, so that most nodes have equal first hashes."""
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
        name = f"{make.__name__} of {triples:,} triples, parsed and digested"
        seconds = [_seconds(body) for _ in range(repeats)]
        figures.append(Figure(bench="graph", name=name, values=seconds, unit="s", at_most=_MAX_SECONDS))
        if not _PEER_PYTHON.exists():
            continue
        copies = make(_COMPARED, "x"), make(_COMPARED, "y")
        ratios = [_peer_seconds(*copies) / _seconds(*copies) for _ in range(repeats)]
        name = f"rdflib : digest of {make.__name__}, {_COMPARED:,} triples twice"
        figures.append(Figure(bench="graph", name=name, values=ratios, at_least=_MIN_RATIO))
    return figures


def _seconds(*bodies: bytes) -> float:
    """CPU time of the digests of copies of one graph."""
    digests: set[str] = set()
    seconds = cpu_seconds(lambda: digests.update(map(_digest, bodies)))
    assert len(digests) == 1, "copies with different labels must have the same digest"
    return seconds


def _digest(body: bytes) -> str:
    data = graph.rdf_digest(body, None, "http://example.org/", syntax="ntriples")
    assert data.digest is not None, data.note
    return data.digest


def _peer_seconds(first: bytes, second: bytes) -> float:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "first.nt", Path(folder) / "second.nt"]
        for file, body in zip(files, (first, second), strict=True):
            file.write_bytes(body)
        command = [str(_PEER_PYTHON), "-c", _PEER, *map(str, files)]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(process.stdout)
