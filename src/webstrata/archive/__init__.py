"""Archive: exchanges go into WARC files and come back as they were; what was appended is on the disk for good."""
