"""Commands that choose and configure watched pages."""
