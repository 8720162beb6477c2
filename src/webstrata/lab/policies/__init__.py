"""Experiments on scheduling policies: recorded histories, replay, comparison."""
