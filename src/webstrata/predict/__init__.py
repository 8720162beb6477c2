"""Histories of visits -> how often pages change, and how sure that is. Pure, vectorised over pages."""
