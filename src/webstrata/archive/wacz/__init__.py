"""WACZ packages: writing, reading and check."""
