"""The crawl-time experiment."""
