"""Access handlers: one class for each way to get a page's content."""
