"""WARC files: writing, reading, repair and check."""
