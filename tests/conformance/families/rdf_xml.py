"""RDF/XML: what is read and what is refused (W3C's RDF 1.1 tests)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.rdf_cases import run_cases
from tests.conformance.verdict import Verdict

FAMILY = "rdf-xml"
_XML_LITERAL = re.compile(r"""parseType\s*=\s*["']Literal["']""")


def run(folder: Path) -> Verdict:
    return run_cases(folder, "rdfxml", (_has_xml_literal,))


def _has_xml_literal(case: Case) -> bool:
    """An XML literal keeps the form in which it is written; RDF 1.1 does not require that it is canonicalised
    (docs/decisions/0017-rdf-parsing.md)."""
    return _XML_LITERAL.search(case.text("input")) is not None
