"""Computes the fingerprint of a body in layers: raw bytes, useful text, links, data. Pure functions; none raises."""
