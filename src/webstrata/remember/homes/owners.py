"""The homes to which the tables belong: one, unless several have chosen to share them."""

from __future__ import annotations

from sqlalchemy import Connection, select

from webstrata.errors import StoreError
from webstrata.remember.db_thread import shown
from webstrata.remember.homes.store_home import StoreHome
from webstrata.remember.statements import insert_missing
from webstrata.remember.tables import homes


def home_names(connection: Connection) -> list[str]:
    """The names of the archivers whose homes use these tables."""
    return list(connection.execute(select(homes.c.node).order_by(homes.c.node)).scalars())


def is_registered(connection: Connection, home: StoreHome) -> bool:
    """Whether the home may use the tables and is in them; raises StoreError if they belong to another one."""
    found: dict[str, bool] = {row.node: row.shares for row in connection.execute(select(homes))}
    if home.node in found or (home.is_inside and found):
        return True
    where = _where(connection, home)
    others = ", ".join(sorted(found))
    if found and not home.shares:
        raise StoreError(
            f"{where} belongs to another home ({others}). Name another database in store.url. If this is the same "
            "home, and its file `node` was lost, write that name into it."
        )
    if not all(found.values()):
        raise StoreError(
            f"{where} belongs to the home {others}, which does not share it. Choose another store.schema: homes share "
            "pages only if all of them name the same store.schema when they are created."
        )
    return False


def register(connection: Connection, home: StoreHome) -> None:
    """Add the home to the tables; call it in a transaction that writes."""
    if not is_registered(connection, home):
        insert_missing(connection, homes, ["node"], [{"node": home.node, "shares": home.shares}])


def _where(connection: Connection, home: StoreHome) -> str:
    name = shown(connection.engine.url)
    return f"the schema {home.schema} of {name}" if home.schema else f"the database {name}"
