"""Alembic's entry point: uses the connection and transaction of `webstrata.remember.engine`."""

from alembic import context

from webstrata.remember.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
