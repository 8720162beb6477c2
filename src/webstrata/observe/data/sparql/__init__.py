"""SPARQL results: reading and canonical order."""
