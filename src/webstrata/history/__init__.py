"""Readers of other archives' copies: indexes, tables and lists of observations."""
