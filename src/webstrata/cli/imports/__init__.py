"""Commands that import what other archives know of the past of pages."""
