"""The tables are documented, and the questions asked most use their indexes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct
from sqlalchemy import create_engine, text

from webstrata.clock import ManualClock
from webstrata.records import AddressState, HostDayTotals, HostState, Original, Page, RobotsState, Site, Visit
from webstrata.remember.engine import open_store
from webstrata.remember.history.copies import stored_query
from webstrata.remember.tables import metadata
from webstrata.remember.totals import CUT

DOC = (Path(__file__).parents[2] / "docs/reference/store.md").read_text()


def test_everything_is_documented() -> None:
    """Each table and index, and each column of pages and visits, is in the reference."""
    names = set(metadata.tables) | {index.name for table in metadata.tables.values() for index in table.indexes}
    names |= {
        column.name for table in ("pages", "visits") for column in metadata.tables[table].c if column.name != "id"
    }
    assert [name for name in sorted(map(str, names)) if f"`{name}" not in DOC and f" {name}`" not in DOC] == []


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("SELECT page_id FROM queue WHERE due_at <= 5 ORDER BY due_at, page_id LIMIT 9", "ix_queue_due"),
        ("SELECT count(*) FROM queue WHERE due_at <= 5", "ix_queue_due"),
        ("SELECT due_at FROM queue WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1", "ix_queue_due"),
        ("SELECT count(*) FROM queue WHERE lease_until > 5", "ix_queue_leased"),
        ("SELECT site_id, count(*) FROM pages WHERE site_id IS NOT NULL GROUP BY site_id", "ix_pages_site"),
        ("SELECT * FROM pages WHERE host = 'a' AND id > 5 ORDER BY id LIMIT 9", "ix_pages_host"),
        ("SELECT * FROM visits WHERE page_id = 5 ORDER BY at DESC LIMIT 9", "uq_visits_page_at"),
        ("SELECT * FROM visits WHERE at >= 5 ORDER BY at DESC, page_id DESC LIMIT 9", "ix_visits_at"),
        (
            "SELECT * FROM visits WHERE (counts OR kind = 'new') AND counts = 1 AND (at, page_id) < (5, 6) "
            "ORDER BY at DESC, page_id DESC LIMIT 9",
            "ix_visits_versions",
        ),
        (
            "SELECT * FROM visits WHERE failure IS NOT NULL AND at >= 5 ORDER BY at DESC, page_id DESC LIMIT 9",
            "ix_visits_failures",
        ),
        (str(CUT), "ix_visits_cut"),
        ("SELECT max(at) FROM learned_pages", "ix_learned_pages_at"),
        (stored_query("(1, 2.0)", 2), "SEARCH copies USING PRIMARY KEY (page_id=? AND at=?)"),
    ],
)
def test_no_scan(sqlite_url: str, query: str, index: str) -> None:
    """The engine answers from the index meant for the question, without sorting."""
    open_store(sqlite_url, ManualClock())
    engine = create_engine(sqlite_url)
    with engine.connect() as connection:
        plan = " ".join(str(row[3]) for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}")))
    engine.dispose()
    assert index in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize(
    ("record", "table", "elsewhere"),
    [
        (Page, "pages", set()),
        (Visit, "visits", {"position"}),
        (Site, "sites", set()),
        (Original, "originals", {"offset"}),
        (HostState, "hosts", set()),
        (AddressState, "addresses", set()),
        (RobotsState, "robots", set()),
        (HostDayTotals, "host_days", set()),
    ],
)
def test_every_field_has_a_column(record: type[Struct], table: str, elsewhere: set[str]) -> None:
    """A field added to a record cannot be forgotten here."""
    assert set(record.__struct_fields__) - elsewhere <= set(metadata.tables[table].c.keys())
