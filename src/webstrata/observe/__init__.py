"""Bytes -> Seen: what a content is, layer by layer (raw bytes, useful text, links). Pure; never raises for bad input."""
