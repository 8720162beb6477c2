"""Listings over all pages: visits by time, and pages in any order."""
