"""Experiments on sharp captures."""
