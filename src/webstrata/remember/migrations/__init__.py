"""How the tables came to be what they are: numbered steps, run by Alembic at the first start of a new version."""
