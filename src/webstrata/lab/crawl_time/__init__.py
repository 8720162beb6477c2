"""The crawl-time experiment: how well the duration of a crawl is estimated before it."""
