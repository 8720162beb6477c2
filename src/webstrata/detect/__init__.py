"""Change detection: compares two observations of a page and returns a `Change`: its kind, size and significance.

`verdict.judge` is the entry point. `diff/` describes the difference of two versions for people. Pure, without I/O.
"""
