"""RDF: parsing, canonicalization and digests of graphs; JSON-LD and RDFa."""
