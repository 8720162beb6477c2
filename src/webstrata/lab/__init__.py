"""Experiments: recorded sites and change histories, the true changes, and the share of them that a crawl captures."""
