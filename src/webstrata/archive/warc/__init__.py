"""WARC files: compose, append, read, repair and check records; `WarcArchive` is the archive port."""
