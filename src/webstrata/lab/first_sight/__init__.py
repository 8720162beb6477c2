"""Experiments with the classifier of pages at first sight."""
