"""Guesses how often a page changes from what it looks like at its first visit, and learns to guess from other pages."""
