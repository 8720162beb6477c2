"""The CDXJ index: lines, one sorted segment for each WARC file, and lookup by URL and time."""
