"""Two fingerprints -> Change: what happened to a page, whether it counts, and what the difference looks like. Pure."""
