"""Copies of pages that other archives hold, the progress of imports, and links, features and importance of pages."""

import sqlalchemy as sa
from alembic import op

from webstrata.remember.migrations.creating import create_index, create_table, row_id

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    create_table(
        "archives",
        sa.Column("id", row_id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archives")),
        sa.UniqueConstraint("name", name=op.f("uq_archives_name")),
    )
    create_table(
        "copies",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("archive_id", row_id, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("has_links", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "at", name=op.f("pk_copies")),
        sqlite_with_rowid=False,
    )
    create_table(
        "imports",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("read", sa.BigInteger(), nullable=False),
        sa.Column("kept", sa.BigInteger(), nullable=False),
        sa.Column("skipped", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("is_finished", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_imports")),
        sqlite_with_rowid=False,
    )
    create_table(
        "learned_pages",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_learned_pages")),
        sqlite_with_rowid=False,
    )
    create_index("ix_learned_pages_at", "learned_pages", ["at"])
    create_table(
        "page_links",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("links", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_page_links")),
    )
    create_table(
        "page_features",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("features", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_page_features")),
    )
    create_table(
        "page_importance",
        sa.Column("page_id", row_id, autoincrement=False, nullable=False),
        sa.Column("rank", sa.Double(), nullable=False),
        sa.Column("in_links", sa.Integer(), nullable=False),
        sa.Column("link_depth", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_page_importance")),
        sqlite_with_rowid=False,
    )
