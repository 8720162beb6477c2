"""Signals and their sources; what a change was and why it mattered; what users changed during a visit."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_row_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("pages", sa.Column("edits", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("pages", sa.Column("counted", sa.Text(), nullable=True))
    op.add_column("visits", sa.Column("reverted", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("visits", sa.Column("reasons", sa.Text(), nullable=True))
    op.create_table(
        "sources",
        sa.Column("id", _row_id, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("proved_right", sa.Double(), nullable=False),
        sa.Column("proved_wrong", sa.Double(), nullable=False),
        sa.Column("announced", sa.Double(), nullable=False),
        sa.Column("silent", sa.Double(), nullable=False),
        sa.Column("delay_s", sa.Double(), nullable=False),
        sa.Column("delays", sa.Double(), nullable=False),
        sa.Column("reads", sa.Integer(), nullable=False),
        sa.Column("floods", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("url", name=op.f("uq_sources_url")),
    )
    op.create_table(
        "signals",
        sa.Column("page_id", _row_id, autoincrement=False, nullable=False),
        sa.Column("source_id", _row_id, autoincrement=False, nullable=False),
        sa.Column("given_at", sa.Double(), nullable=True),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("news", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "source_id", name=op.f("pk_signals")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_signals_source", "signals", ["source_id", "page_id"], unique=False)
