"""Precision and recall of verdicts on labelled pairs of real versions: `python -m bench.detection`."""
