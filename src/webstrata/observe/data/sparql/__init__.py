"""SPARQL results: parsing, and a canonical form independent of row order and blank node labels."""
