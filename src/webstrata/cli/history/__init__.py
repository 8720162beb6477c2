"""Commands that read the history of pages."""
