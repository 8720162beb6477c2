"""The tables as the migrations create them. `docs/reference/store.md` describes the columns and indexes.

Instants are doubles (they are read back exactly); lists and small structs are JSON text. On PostgreSQL, the tables
marked `_SHARED` are in the schema of politeness, which all homes of a database share, the others in the schema of the
home.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    false,
    or_,
    text,
)

from webstrata.records import READ_COUNTS, VISIT_COUNTS

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)

_SHARED = {"shared": True}

# SQLite generates row ids only for a column declared INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")

sites = Table(
    "sites",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("scope", Text, nullable=False),
    Column("max_depth", Integer, nullable=False),
    Column("max_pages", Integer, nullable=False),
    Column("include", Text, nullable=False),
    Column("exclude", Text, nullable=False),
    Column("requisites", Boolean, nullable=False),
    Column("tags", Text, nullable=False),
    Column("weight", Double, nullable=False),
    Column("added_at", Double, nullable=False),
    Column("every_s", Double),
    Column("windows", Text),
)

pages = Table(
    "pages",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("host", Text, nullable=False),
    Column("weight", Double, nullable=False),
    Column("tags", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("site_id", RowId),
    Column("depth", Integer, nullable=False),
    Column("requisites", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("added_at", Double, nullable=False),
    Column("next_at", Double),
    Column("interval_s", Double),
    Column("policy", Text),
    Column("policy_state", LargeBinary, nullable=False),
    Column("reason", Text, nullable=False),
    Column("visits", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("last_visit_at", Double),
    Column("last_seen_at", Double),
    Column("last_change_at", Double),
    Column("last_outcome", Text),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("payload", Text),
    Column("fingerprint", Text),
    Column("gone", Boolean, nullable=False),
    Column("full_bytes", BigInteger),
    Column("answers_304", Boolean, nullable=False),
    Column("page_rules", Text),
    Column("memory", LargeBinary, nullable=False),
    Column("edits", Integer, nullable=False, server_default="0"),
    Column("counted", Text),
    Column("every_s", Double),
    Column("windows", Text),
    Column("snoozed_until", Double),
)

# The migration uses the same WHERE on PostgreSQL; declaring it here would load that dialect at every start.
_of_site = pages.c.site_id.is_not(None)
Index("ix_pages_site", pages.c.site_id, sqlite_where=_of_site)
Index("ix_pages_host", pages.c.host, pages.c.id)
is_timed = or_(pages.c.every_s.is_not(None), pages.c.windows.is_not(None), pages.c.snoozed_until.is_not(None))
Index("ix_pages_timed", pages.c.id, sqlite_where=is_timed)

# Separate from `pages` and narrow: a lease writes about 60 bytes instead of a whole page row, and a visit does not
# update the indexes of `pages`.
queue = Table(
    "queue",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("due_at", Double),  # when the page may be claimed: its next visit, or the end of its lease; null: never
    Column("lease_until", Double),
    Column("lease_owner", Text),
)
_due = queue.c.due_at.is_not(None)
_leased = queue.c.lease_until.is_not(None)
Index("ix_queue_due", queue.c.due_at, queue.c.page_id, sqlite_where=_due)
Index("ix_queue_leased", queue.c.lease_until, sqlite_where=_leased)

page_tags = Table(
    "page_tags",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

# Pages of a site by the source that found them, and by path; what was left out.
site_finds = Table(
    "site_finds",
    metadata,
    Column("site_id", RowId, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("found", Integer, nullable=False),
    Column("left_out", Integer, nullable=False),
    Column("why", Text, nullable=False),
    sqlite_with_rowid=False,
)

tag_rules = Table(
    "tag_rules",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("page_rules", Text, nullable=False),
)

visits = Table(
    "visits",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("page_id", RowId, nullable=False),
    Column("url", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Integer),
    Column("failure", Text),
    Column("failure_detail", Text),
    Column("raw_changed", Boolean, nullable=False),
    Column("counts", Boolean, nullable=False),
    Column("duration_s", Double, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("headers", Text),
    Column("raw", Text),
    Column("text", Text),
    Column("payload", Text),
    Column("truncated", Text),
    Column("kind", Text, nullable=False),
    Column("significance", Double, nullable=False),
    Column("new_links", Integer, nullable=False),
    Column("file", Text),
    Column("file_offset", BigInteger),
    Column("length", BigInteger),
    Column("record_id", Text),
    Column("record_kind", Text),
    Column("hops", Text),
    Column("reverted", Boolean, nullable=False, server_default=false()),
    Column("reasons", Text),
    Column("product_values", Text),
    Column("learned", Text),
)
Index("uq_visits_page_at", visits.c.page_id, visits.c.at, unique=True)
Index("ix_visits_at", visits.c.at, visits.c.page_id)
Index("ix_visits_versions", visits.c.at, visits.c.page_id, sqlite_where=text("counts OR kind = 'new'"))
Index("ix_visits_failures", visits.c.at, visits.c.page_id, sqlite_where=visits.c.failure.is_not(None))
Index("ix_visits_cut", visits.c.page_id, visits.c.at, sqlite_where=visits.c.truncated.is_not(None))

originals = Table(
    "originals",
    metadata,
    Column("payload", Text, primary_key=True),
    Column("home", Text, primary_key=True),  # in whose archive the record is; empty if the tables have one home
    Column("record_id", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("url", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("file_offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Feeds and sitemaps that give signals, with decaying counts of how often they were right.
sources = Table(
    "sources",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    *(Column(name, Double, nullable=False) for name in (*VISIT_COUNTS, *READ_COUNTS)),
    Column("reads", Integer, nullable=False),
    Column("floods", Integer, nullable=False),
    Column("listed", Integer, nullable=False),
    Column("read_at", Double),
    Column("finds_pages", Boolean, nullable=False),
)

# The latest announcement of a source about a page.
signals = Table(
    "signals",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("source_id", RowId, primary_key=True, autoincrement=False),
    Column("given_at", Double),
    Column("seen_at", Double, nullable=False),
    Column("news", Integer, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_signals_source", signals.c.source_id, signals.c.page_id)

# Announcements about URLs that are not watched yet.
unwatched_signals = Table(
    "unwatched_signals",
    metadata,
    Column("source_id", RowId, primary_key=True, autoincrement=False),
    Column("url", Text, primary_key=True),
    Column("given_at", Double),
    Column("seen_at", Double, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_unwatched_signals_url", unwatched_signals.c.url)

# Hosts that ever had a watched page.
watched_hosts = Table(
    "watched_hosts",
    metadata,
    Column("host", Text, primary_key=True),
    sqlite_with_rowid=False,
)

# The politeness of hosts that were ever visited.
hosts = Table(
    "hosts",
    metadata,
    Column("host", Text, primary_key=True),
    Column("next_at", Double, nullable=False),
    Column("backoff_until", Double, nullable=False),
    Column("backoff_count", Integer, nullable=False),
    Column("last_duration_s", Double, nullable=False),
    sqlite_with_rowid=False,
    info=_SHARED,
)

# Which process may send requests to a host. Separate from `hosts`, so that renewing does not wait for a commit that
# writes the rows of hosts. A released lease keeps its owner, and ends when it was released.
host_leases = Table(
    "host_leases",
    metadata,
    Column("host", Text, primary_key=True),
    Column("lease_owner", Text, nullable=False),
    Column("lease_until", Double, nullable=False),
    Column("wanted_by", Text),  # another process that waits for the host
    Column("wanted_until", Double),
    sqlite_with_rowid=False,
    info=_SHARED,
)
_wanted = host_leases.c.wanted_until.is_not(None)
Index("ix_host_leases_wanted", host_leases.c.wanted_until, sqlite_where=_wanted)

site_templates = Table(
    "site_templates",
    metadata,
    Column("host", Text, primary_key=True),
    Column("template", LargeBinary, nullable=False),
)

addresses = Table(
    "addresses",
    metadata,
    Column("address", Text, primary_key=True),
    Column("next_at", Double, nullable=False),
    sqlite_with_rowid=False,
    info=_SHARED,
)

robots = Table(
    "robots",
    metadata,
    Column("origin", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    info=_SHARED,
)
Index("ix_robots_host", robots.c.host)


def _sums() -> list[Column[object]]:
    return [
        Column("visits", BigInteger, nullable=False),
        Column("changes", BigInteger, nullable=False),
        Column("errors", BigInteger, nullable=False),
        Column("bytes", BigInteger, nullable=False),
        Column("duration_s", Double, nullable=False),
    ]


# The last large rounds of the loop, from which `plan` learns how fast this machine is.
rounds = Table(
    "rounds",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("at", Double, nullable=False),
    Column("visits", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("limited_s", Double, nullable=False),
)

# Contents that ended a parser process, or exceeded its limits: they are not given to a parser again.
unparsable = Table(
    "unparsable",
    metadata,
    Column("key", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("raw", Text, nullable=False),
    Column("decoded_size", BigInteger, nullable=False),
    Column("torn", Boolean, nullable=False),
)

host_days = Table(
    "host_days",
    metadata,
    Column("host", Text, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    *_sums(),
    sqlite_with_rowid=False,
)

# Counters are spread over slots: processes add to different rows, so that they do not wait for each other.
day_totals = Table(
    "day_totals",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    *_sums(),
    sqlite_with_rowid=False,
)

totals = Table(
    "totals",
    metadata,
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    Column("pages", BigInteger, nullable=False),
    Column("paused", BigInteger, nullable=False),
    Column("requisites", BigInteger, nullable=False),
    Column("hosts", BigInteger, nullable=False),
    Column(
        "rate", BigInteger, nullable=False
    ),  # millionths of a visit per day: integers add up without rounding errors
    *_sums(),
)

# The state of each budget: the unspent amount and the price of a visit.
budgets = Table(
    "budgets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("price", Double, nullable=False),
    Column("credit", Double, nullable=False),
    Column("at", Double, nullable=False),
)

# Parts of a budget that a process has reserved and not spent yet.
reservations = Table(
    "reservations",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("amount", Double, nullable=False),
    Column("until", Double, nullable=False),
)

# The last reading of the clock on each start of a machine: whether the system clock was set since. The times of
# politeness follow readings of their own: they are moved once for all homes.
machine_clocks = Table(
    "machine_clocks",
    metadata,
    Column("machine", Text, primary_key=True),
    Column("uptime_s", Double, nullable=False),
    Column("at", Double, nullable=False),
)
politeness_clocks = Table(
    "politeness_clocks",
    metadata,
    Column("machine", Text, primary_key=True),
    Column("uptime_s", Double, nullable=False),
    Column("at", Double, nullable=False),
    info=_SHARED,
)

# The homes that use these tables: one, unless several have chosen to share them.
homes = Table(
    "homes",
    metadata,
    Column("node", Text, primary_key=True),
    Column("shares", Boolean, nullable=False),
)

# The policy state of a host: recent joint changes of its pages, packed by the policy.
site_states = Table(
    "site_states",
    metadata,
    Column("host", Text, primary_key=True),
    Column("state", LargeBinary, nullable=False),
)

boosts = Table(
    "boosts",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("factor", Double, nullable=False),
    Column("since", Double, nullable=False),
    Column("until", Double, nullable=False),
)

# Minimum and maximum interval of a page (by URL) or of a tag.
interval_limits = Table(
    "interval_limits",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("min_s", Double),
    Column("max_s", Double),
)

# ── copies in other archives, and facts about pages ─────────────────────────────────────────────────────────

# The names of archives whose copies were imported.
archives = Table(
    "archives",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

# A copy of a page in another archive.
copies = Table(
    "copies",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("at", Double, primary_key=True),
    Column("archive_id", RowId, nullable=False),
    Column("digest", Text, nullable=False),  # of the payload; empty: not known
    Column("text", Text, nullable=False),  # of the useful text; empty: the content was not read
    Column("status", Integer, nullable=False),
    Column("has_links", Boolean, nullable=False),  # its links are in `page_links`
    sqlite_with_rowid=False,
)

# How far an import has read its source: it continues there if it was ended.
imports = Table(
    "imports",
    metadata,
    Column("key", Text, primary_key=True),
    Column("position", Text, nullable=False),
    Column("read", BigInteger, nullable=False),
    Column("kept", BigInteger, nullable=False),
    Column("skipped", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("is_finished", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

# Pages whose policy state was learned from copies, and when.
learned_pages = Table(
    "learned_pages",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_learned_pages_at", learned_pages.c.at)

# All links that were ever seen on a page, with the time of the first sighting (`columns.SEEN_LINK`);
# compressed, see `history/link_rows.py`.
page_links = Table(
    "page_links",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("links", LargeBinary, nullable=False),
)

# The static features of a page's content, for the classifier.
page_features = Table(
    "page_features",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("features", Text, nullable=False),
    Column("at", Double, nullable=False),
)

# PageRank and other figures of the link graph.
page_importance = Table(
    "page_importance",
    metadata,
    Column("page_id", RowId, primary_key=True, autoincrement=False),
    Column("rank", Double, nullable=False),
    Column("in_links", Integer, nullable=False),
    Column("link_depth", Integer),
    sqlite_with_rowid=False,
)
