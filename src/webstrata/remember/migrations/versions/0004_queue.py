"""The queue leaves the pages: a lease no longer rewrites the page, and a visit none of its indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_row_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "queue",
        sa.Column("page_id", _row_id, autoincrement=False, nullable=False),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_queue")),
    )
    op.execute(
        "INSERT INTO queue (page_id, due_at, lease_until, lease_owner) "
        "SELECT id, CASE WHEN due_at IS NOT NULL THEN coalesce(lease_until, due_at) END, lease_until, lease_owner "
        "FROM pages ORDER BY id"
    )
    for name, columns in (("due", ["due_at", "page_id"]), ("leased", ["lease_until"])):
        op.drop_index(f"ix_pages_{name}", "pages")
        op.create_index(
            f"ix_queue_{name}",
            "queue",
            columns,
            unique=False,
            sqlite_where=sa.text(f"{columns[0]} IS NOT NULL"),
            postgresql_where=sa.text(f"{columns[0]} IS NOT NULL"),
        )
    for name in ("due_at", "lease_until", "lease_owner"):
        op.drop_column("pages", name)
    if op.get_bind().dialect.name == "postgresql":
        # Room in every block for a page's next version: it then needs no new entry in any index.
        op.execute("ALTER TABLE pages SET (fillfactor = 80)")
