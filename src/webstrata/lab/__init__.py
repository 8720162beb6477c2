"""Lab: what really happened on recorded sites, and how well a crawl would have caught it."""
