"""How much of what only the database holds was in a file that is replaced, as far as it can still be read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from webstrata.remember.read_only import readable_uri

_QUERIES = {
    "tags": "SELECT count(*) FROM page_tags",
    "rules": "SELECT (SELECT count(*) FROM pages WHERE page_rules IS NOT NULL) + (SELECT count(*) FROM tag_rules)",
    "weights": "SELECT count(*) FROM pages WHERE weight != 1",
    "visit-times": "SELECT count(*) FROM pages WHERE every_s IS NOT NULL OR windows IS NOT NULL"
    " OR snoozed_until IS NOT NULL",
    "sites": "SELECT count(*) FROM sites",
    "boosts": "SELECT count(*) FROM boosts",
    "interval-limits": "SELECT count(*) FROM interval_limits",
    "paused": "SELECT count(*) FROM pages WHERE state = 'paused'",
    "noise-choices": "SELECT count(*) FROM pages WHERE counted IS NOT NULL",
    "unarchived-pages": "SELECT count(*) FROM pages WHERE NOT EXISTS (SELECT 1 FROM visits WHERE page_id = pages.id"
    " AND (file IS NOT NULL OR hops IS NOT NULL))",
    "unarchived-visits": "SELECT count(*) FROM visits WHERE file IS NULL AND hops IS NULL",
    "copies": "SELECT count(*) FROM copies",
    "imports": "SELECT count(*) FROM imports",
    "learned-states": "SELECT count(*) FROM learned_pages",
    "importance": "SELECT count(*) FROM page_importance",
    "budgets": "SELECT count(*) FROM budgets",
}


def lost_counts(file: Path) -> dict[str, int]:
    """The counts that can be read, by name (`flows.maintenance.lost_facts`)."""
    counts: dict[str, int] = {}
    if not file.exists() or not file.stat().st_size:
        return counts
    connection = sqlite3.connect(readable_uri(file), uri=True)
    try:
        for name, query in _QUERIES.items():
            try:
                counts[name] = int(connection.execute(query).fetchone()[0])
            except (sqlite3.Error, TypeError, ValueError, UnicodeDecodeError):
                continue  # this part of the file is damaged
    finally:
        connection.close()
    return counts
