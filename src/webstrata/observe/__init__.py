"""Bytes -> Seen: what a content is (raw bytes, useful text, links), layer by layer. Pure; never raises."""
