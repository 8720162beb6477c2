"""The `sparql` handler: query results and whole datasets of SPARQL 1.1 endpoints."""
