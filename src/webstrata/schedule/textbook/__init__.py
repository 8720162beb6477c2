"""Policies of the papers and of other crawlers, to compare with."""
