"""Running the migrations, within a transaction of the caller."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

HEAD = "0001"
"""The newest migration (a test compares it with the scripts). Alembic is loaded only if the database is older."""


def upgrade(connection: Connection, target: str) -> None:
    """Run the migrations up to a version inside the connection's transaction."""
    from alembic import command  # loading it takes 100 ms, which only a migration needs
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
