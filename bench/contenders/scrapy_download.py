"""Scrapy as a plain downloader: no items, robots.txt, cookies, retries or log. It runs in the environment `.peers`.

It uses the asyncio reactor and 64 concurrent requests, in total and per host, as the other contenders do. All
middlewares, extensions and statistics are disabled. Other numbers of concurrent requests were not tried.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scrapy
from scrapy.crawler import CrawlerProcess
from stopwatch import Stopwatch

HOSTS = 32
"""As in bench/pages.py, which cannot be imported in this environment."""
SETTINGS = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_ENABLED": False,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "DOWNLOADER_MIDDLEWARES_BASE": {},
    "SPIDER_MIDDLEWARES_BASE": {},
    "EXTENSIONS_BASE": {},
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
}

watch = Stopwatch()


class Download(scrapy.Spider):  # type: ignore[misc]
    name = "download"

    async def start(self):  # type: ignore[no-untyped-def]
        port, pages = int(sys.argv[1]), int(sys.argv[2])
        for n in range(pages):
            yield scrapy.Request(f"http://127.0.0.{1 + n % HOSTS}:{port}/pages/{n:06d}.html", dont_filter=True)

    def parse(self, response):  # type: ignore[no-untyped-def]
        watch.finished()


if __name__ == "__main__":
    process = CrawlerProcess(SETTINGS)
    process.crawl(Download)
    process.start()
    watch.report()
