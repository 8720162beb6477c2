"""All tables."""

import sqlalchemy as sa
from alembic import op

from webstrata.remember.migrations.creating import create_index, create_table, row_id

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_table(
        "addresses",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_addresses")),
        sqlite_with_rowid=False,
    )
    create_table(
        "boosts",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("factor", sa.Double(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_boosts")),
    )
    create_table(
        "budgets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("price", sa.Double(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_budgets")),
    )
    create_table(
        "day_totals",
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("visits", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("day", "slot", name=op.f("pk_day_totals")),
        sqlite_with_rowid=False,
    )
    create_table(
        "host_days",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("visits", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("host", "day", name=op.f("pk_host_days")),
        sqlite_with_rowid=False,
    )
    create_table(
        "host_leases",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("wanted_by", sa.Text(), nullable=True),
        sa.Column("wanted_until", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_host_leases")),
        sqlite_with_rowid=False,
    )
    create_index(
        "ix_host_leases_wanted",
        "host_leases",
        ["wanted_until"],
        unique=False,
        sqlite_where=sa.text("wanted_until IS NOT NULL"),
        postgresql_where=sa.text("wanted_until IS NOT NULL"),
    )
    create_table(
        "hosts",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=False),
        sa.Column("backoff_until", sa.Double(), nullable=False),
        sa.Column("backoff_count", sa.Integer(), nullable=False),
        sa.Column("last_duration_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_hosts")),
        sqlite_with_rowid=False,
    )
    create_table(
        "homes",
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("shares", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("node", name=op.f("pk_homes")),
    )
    create_table(
        "interval_limits",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("min_s", sa.Double(), nullable=True),
        sa.Column("max_s", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_interval_limits")),
    )
    create_table(
        "machine_clocks",
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("uptime_s", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("machine", name=op.f("pk_machine_clocks")),
    )
    create_table(
        "politeness_clocks",
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("uptime_s", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("machine", name=op.f("pk_politeness_clocks")),
    )
    create_table(
        "originals",
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("home", sa.Text(), nullable=False),
        sa.Column("record_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("file_offset", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("payload", "home", name=op.f("pk_originals")),
        sqlite_with_rowid=False,
    )
    create_table(
        "page_tags",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("tag", "page_id", name=op.f("pk_page_tags")),
        sqlite_with_rowid=False,
    )
    create_table(
        "pages",
        sa.Column("id", row_id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("site_id", row_id, nullable=True),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("requisites", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("interval_s", sa.Double(), nullable=True),
        sa.Column("policy", sa.Text(), nullable=True),
        sa.Column("policy_state", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_visit_at", sa.Double(), nullable=True),
        sa.Column("last_seen_at", sa.Double(), nullable=True),
        sa.Column("last_change_at", sa.Double(), nullable=True),
        sa.Column("last_outcome", sa.Text(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.Column("full_bytes", sa.BigInteger(), nullable=True),
        sa.Column("answers_304", sa.Boolean(), nullable=False),
        sa.Column("page_rules", sa.Text(), nullable=True),
        sa.Column("memory", sa.LargeBinary(), nullable=False),
        sa.Column("edits", sa.Integer(), server_default="0", nullable=False),
        sa.Column("counted", sa.Text(), nullable=True),
        sa.Column("every_s", sa.Double(), nullable=True),
        sa.Column("windows", sa.Text(), nullable=True),
        sa.Column("snoozed_until", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("url", name=op.f("uq_pages_url")),
    )
    create_index("ix_pages_host", "pages", ["host", "id"], unique=False)
    create_index(
        "ix_pages_site",
        "pages",
        ["site_id"],
        unique=False,
        sqlite_where=sa.text("site_id IS NOT NULL"),
        postgresql_where=sa.text("site_id IS NOT NULL"),
    )
    timed = "every_s IS NOT NULL OR windows IS NOT NULL OR snoozed_until IS NOT NULL"
    create_index(
        "ix_pages_timed", "pages", ["id"], unique=False, sqlite_where=sa.text(timed), postgresql_where=sa.text(timed)
    )
    create_table(
        "queue",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_queue")),
    )
    create_index(
        "ix_queue_due",
        "queue",
        ["due_at", "page_id"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    create_index(
        "ix_queue_leased",
        "queue",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("lease_until IS NOT NULL"),
        postgresql_where=sa.text("lease_until IS NOT NULL"),
    )
    create_table(
        "reservations",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("amount", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "name", name=op.f("pk_reservations")),
    )
    create_table(
        "robots",
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("origin", name=op.f("pk_robots")),
    )
    create_index("ix_robots_host", "robots", ["host"], unique=False)
    create_table(
        "rounds",
        sa.Column("id", row_id, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("limited_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
    )
    create_table(
        "unparsable",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("decoded_size", sa.BigInteger(), nullable=False),
        sa.Column("torn", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_unparsable")),
    )
    create_table(
        "signals",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("source_id", row_id, autoincrement=False, nullable=False),
        sa.Column("given_at", sa.Double(), nullable=True),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("news", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "source_id", name=op.f("pk_signals")),
        sqlite_with_rowid=False,
    )
    create_index("ix_signals_source", "signals", ["source_id", "page_id"], unique=False)
    create_table(
        "site_finds",
        sa.Column("site_id", row_id, autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("site_id", "kind", "name", name=op.f("pk_site_finds")),
        sqlite_with_rowid=False,
    )
    create_table(
        "site_states",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_site_states")),
    )
    create_table(
        "sites",
        sa.Column("id", row_id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("max_depth", sa.Integer(), nullable=False),
        sa.Column("max_pages", sa.Integer(), nullable=False),
        sa.Column("include", sa.Text(), nullable=False),
        sa.Column("exclude", sa.Text(), nullable=False),
        sa.Column("requisites", sa.Boolean(), nullable=False),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("added_at", sa.Double(), nullable=False),
        sa.Column("every_s", sa.Double(), nullable=True),
        sa.Column("windows", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sites")),
        sa.UniqueConstraint("url", name=op.f("uq_sites_url")),
    )
    create_table(
        "sources",
        sa.Column("id", row_id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("announced", sa.Double(), nullable=False),
        sa.Column("announced_changed", sa.Double(), nullable=False),
        sa.Column("announced_expected", sa.Double(), nullable=False),
        sa.Column("silent_changed", sa.Double(), nullable=False),
        sa.Column("silent_expected", sa.Double(), nullable=False),
        sa.Column("changes", sa.Double(), nullable=False),
        sa.Column("days", sa.Double(), nullable=False),
        sa.Column("recent_reads", sa.Double(), nullable=False),
        sa.Column("entries", sa.Double(), nullable=False),
        sa.Column("page_days", sa.Double(), nullable=False),
        sa.Column("late_days", sa.Double(), nullable=False),
        sa.Column("dated", sa.Double(), nullable=False),
        sa.Column("discovered", sa.Double(), nullable=False),
        sa.Column("read_days", sa.Double(), nullable=False),
        sa.Column("reads", sa.Integer(), nullable=False),
        sa.Column("floods", sa.Integer(), nullable=False),
        sa.Column("listed", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.Double(), nullable=True),
        sa.Column("finds_pages", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("url", name=op.f("uq_sources_url")),
    )
    create_table(
        "site_templates",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("template", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_site_templates")),
    )
    create_table(
        "tag_rules",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("page_rules", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_tag_rules")),
    )
    create_table(
        "totals",
        sa.Column("slot", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("paused", sa.BigInteger(), nullable=False),
        sa.Column("requisites", sa.BigInteger(), nullable=False),
        sa.Column("hosts", sa.BigInteger(), nullable=False),
        sa.Column("rate", sa.BigInteger(), nullable=False),
        sa.Column("visits", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("slot", name=op.f("pk_totals")),
    )
    create_table(
        "unwatched_signals",
        sa.Column("source_id", row_id, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("given_at", sa.Double(), nullable=True),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "url", name=op.f("pk_unwatched_signals")),
        sqlite_with_rowid=False,
    )
    create_index("ix_unwatched_signals_url", "unwatched_signals", ["url"], unique=False)
    create_table(
        "visits",
        sa.Column("id", row_id, nullable=False),
        sa.Column("page_id", row_id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("failure_detail", sa.Text(), nullable=True),
        sa.Column("raw_changed", sa.Boolean(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("headers", sa.Text(), nullable=True),
        sa.Column("raw", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("truncated", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("significance", sa.Double(), nullable=False),
        sa.Column("new_links", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=True),
        sa.Column("file_offset", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("record_id", sa.Text(), nullable=True),
        sa.Column("record_kind", sa.Text(), nullable=True),
        sa.Column("hops", sa.Text(), nullable=True),
        sa.Column("reverted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=True),
        sa.Column("product_values", sa.Text(), nullable=True),
        sa.Column("learned", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visits")),
    )
    create_index("uq_visits_page_at", "visits", ["page_id", "at"], unique=True)
    create_index("ix_visits_at", "visits", ["at", "page_id"], unique=False)
    for name, condition in (("versions", "counts OR kind = 'new'"), ("failures", "failure IS NOT NULL")):
        create_index(
            f"ix_visits_{name}",
            "visits",
            ["at", "page_id"],
            unique=False,
            sqlite_where=sa.text(condition),
            postgresql_where=sa.text(condition),
        )
    cut = sa.text("truncated IS NOT NULL")
    create_index("ix_visits_cut", "visits", ["page_id", "at"], unique=False, sqlite_where=cut, postgresql_where=cut)
    create_table(
        "watched_hosts",
        sa.Column("host", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_watched_hosts")),
        sqlite_with_rowid=False,
    )
