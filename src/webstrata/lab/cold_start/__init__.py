"""Experiments with pages of which nothing is known but their first version."""
