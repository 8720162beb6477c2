"""RDF: parsing, canonical form and digest of graphs."""
