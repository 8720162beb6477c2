"""Commands that visit pages or plan visits."""
