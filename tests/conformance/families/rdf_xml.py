"""RDF/XML: what is read and what is refused (W3C's RDF 1.1 tests)."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.rdf_cases import run_cases
from tests.conformance.verdict import Verdict

FAMILY = "rdf-xml"

# XML literals are not canonicalised (docs/decisions/0017-rdf-parsing.md); RDF 1.1 permits that.
_CONTESTED = {"xml-canon-test001", "xml-canon-test002"}


def run(folder: Path) -> Verdict:
    return run_cases(folder, "rdfxml", _CONTESTED)
