"""Differences of two versions for people: lines and words of text, tables, JSON, sets of strings, HTML pages."""
