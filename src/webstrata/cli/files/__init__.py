"""Commands that work on files instead of a home."""
