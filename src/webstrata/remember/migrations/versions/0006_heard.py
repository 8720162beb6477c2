"""What sources say of addresses that nobody watches yet."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_row_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "heard",
        sa.Column("source_id", _row_id, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("given_at", sa.Double(), nullable=True),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "url", name=op.f("pk_heard")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_heard_url", "heard", ["url"], unique=False)
