"""Alembic's entry: works on the connection that `webstrata.remember.schema` hands over, inside its transaction."""

from alembic import context

from webstrata.remember.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
