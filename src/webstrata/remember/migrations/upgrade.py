"""Running the migrations, within a transaction of the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from sqlalchemy import Connection

HEAD = "0002"
"""The newest migration (a test compares it with the scripts). Alembic is loaded only if the database is older."""

Part = Literal["all", "home", "politeness"]
"""Which tables: those of one home, those that homes share, or both in one place."""


def upgrade(connection: Connection, target: str, part: Part = "all") -> None:
    """Run the migrations of these tables up to a version inside the connection's transaction."""
    from alembic import command  # loading it takes 100 ms, which only a migration needs
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["part"] = part
    command.upgrade(config, target)
