"""Differences between two versions, for people: text, words, tables, JSON, sets, HTML pages."""
