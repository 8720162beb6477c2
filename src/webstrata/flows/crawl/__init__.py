"""The crawl: claim pages, visit them politely, parse, archive, judge and commit each batch of visits."""
