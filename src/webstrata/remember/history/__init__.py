"""Copies of pages in other archives, and facts about pages: links, features, importance."""
