"""Differences of two versions for people: text by lines and words, tables, JSON, sets of links or triples, HTML pages."""
