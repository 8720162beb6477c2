"""Recognises error pages that are served with status 200 in place of the page."""
