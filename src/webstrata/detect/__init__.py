"""Change detection: compares two fingerprints of a page and returns a `Change` with the kind, whether it counts, and how
significant it is. `diff/` describes the difference of two versions for people. Pure functions without I/O."""
