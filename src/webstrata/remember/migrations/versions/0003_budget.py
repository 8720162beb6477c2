"""What the budget needs across restarts: how it is spent, what sites do together, and what people wish of tags."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "paces",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("price", sa.Double(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_paces")),
    )
    op.create_table(
        "site_states",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_site_states")),
    )
    op.create_table(
        "boosts",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("factor", sa.Double(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_boosts")),
    )
    op.create_table(
        "limits",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("min_s", sa.Double(), nullable=True),
        sa.Column("max_s", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_limits")),
    )
