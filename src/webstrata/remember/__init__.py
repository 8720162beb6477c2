"""Facts at rest: pages, visits, politeness and counts, in SQLite by default and in PostgreSQL at scale.

`webstrata.remember.engine.open_store` opens either by URL.
"""
