"""The crawl: lease pages, visit them politely, parse, archive, judge and commit each batch of visits."""
